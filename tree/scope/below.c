/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the places of a part of a tree, in order, and checks answers and names against them. */
#include "tree/scope/below.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/names-comm.h"
#include "tree/data/process.h"
#include "tree/data/tellers.h"
#include "tree/scope/quota.h"
#include "tree/wire/dictionary.h"

/* The host of a leaf. */
struct below_host {
	const struct plan_place *place;
	struct interval_set holds;
};

/* ---- places ---- */

static void below_add(struct below *below, const struct plan_place *root)
{
	PLAN_FOREACH (walk, root) {
		uint32_t index = walk.place->index;

		if (walk.place->leaf)
			below->leaves[below->n++] = index;
		below->places[below->n_places++] = index;
		/* a stand-in for the whole part belongs to another child, or to us */
		if (walk.parent && index < PLAN_PLACES)
			below->places[below->n_places++] = index + PLAN_PLACES;
	}
}

static int index_order(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static const uint32_t *index_find(uint32_t index, const uint32_t *list, size_t n)
{
	return bsearch(&index, list, n, sizeof(index), index_order);
}

size_t below_first(const struct below *below, uint32_t index)
{
	size_t low = 0, high = below->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (below->leaves[middle] < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int node_order(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

/* The indexes are in order already. */
static void below_add_hosts(struct below *below, const struct plan_place *root)
{
	PLAN_FOREACH (walk, root) {
		const struct plan_place *p = walk.place;
		size_t i;

		if (!p->leaf)
			continue;
		i = below_first(below, p->index);
		/* indexes are unique, but not surely in a place from a peer */
		if (!below->hosts[i].place) {
			below->hosts[i].place = p;
			interval_set_read(&below->hosts[i].holds, p->holds ? p->holds : "");
		}
		below->nodes[below->n_nodes++] = p->node;
		below->own &= p->own;
	}
}

void below_init(struct below *below, const struct plan_place *place)
{
	size_t n = plan_size(place).places;

	*below = (struct below){
		.leaves = memory_new(n, sizeof(*below->leaves)),
		.places = memory_new(2 * n, sizeof(*below->places)),
	};
	below_add(below, place);
	qsort(below->leaves, below->n, sizeof(*below->leaves), index_order);
	qsort(below->places, below->n_places, sizeof(*below->places), index_order);
	below->hosts = memory_new(below->n, sizeof(*below->hosts));
	below->nodes = memory_new(below->n, sizeof(*below->nodes));
	below->own = true;
	below_add_hosts(below, place);
	qsort(below->nodes, below->n_nodes, sizeof(*below->nodes), node_order);
}

void below_fini(struct below *below)
{
	for (size_t i = 0; i < below->n; i++)
		interval_set_fini(&below->hosts[i].holds);
	free(below->hosts);
	free(below->nodes);
	free(below->leaves);
	free(below->places);
	*below = (struct below){0};
}

bool below_has(const struct below *below, uint32_t leaf)
{
	size_t at = below_first(below, leaf);

	return at < below->n && below->leaves[at] == leaf;
}

bool below_names(const struct below *below, uint32_t id)
{
	return index_find(name_place(id), below->places, below->n_places) != NULL;
}

/* Stand-ins' indexes are above all others, so that these are without gaps where places are. */
bool below_places(const struct below *below, uint32_t from, uint32_t count)
{
	const uint32_t *at = index_find(from, below->places, below->n_places);
	size_t left = at ? below->n_places - (size_t)(at - below->places) : 0;

	return count <= left && from + count <= PLAN_PLACES && at[count - 1] == from + count - 1;
}

/* ---- names ---- */

static const struct below_host *host_find(const struct below *below, uint32_t id)
{
	return below_has(below, name_place(id)) ? &below->hosts[below_first(below, name_place(id))]
						: NULL;
}

/* The second part of @text into @node. Returns false if it has none: then it is not a name. */
static bool node_of(const char *text, char node[NAME_BYTES])
{
	const char *from = text[0] == '/' ? strchr(text + 1, '/') : NULL;
	size_t length = from ? strcspn(from + 1, "/") : 0;

	if (!from || length >= NAME_BYTES)
		return false;
	memcpy(node, from + 1, length);
	node[length] = '\0';
	return true;
}

bool below_spells(const struct below *below, const struct name *name)
{
	const struct below_host *by = host_find(below, name->id);
	char text[NAME_BYTES];
	const char *node = text;

	if (name->level > LEVEL_NODE || !node_of(name->text, text))
		return true;
	if (by && name->level == LEVEL_ELEMENT)
		return !by->place->own || strcmp(by->place->node, node) == 0;
	return !below->own ||
	       bsearch(&node, below->nodes, below->n_nodes, sizeof(*below->nodes), node_order);
}

/* May process @number be on the host that gave out the name @id? The map says where ranks are, but
 * not tasks. */
static bool below_holds(const struct below *below, uint32_t id, int32_t number)
{
	const struct below_host *by = host_find(below, id);

	if (!by || !by->place->placed || process_is_task(number) ||
	    (by->place->holds && strcmp(by->place->holds, "all") == 0))
		return true;
	return number >= 0 && interval_set_have(&by->holds, (uint64_t)number);
}

/* ---- names that are said ---- */

/* A host with two parts of a scope may use a group's name that another part's host gave first. */
static bool is_nobodys(const struct hearsay_child *child, const struct names *names,
		       const struct name *name)
{
	return name->level != LEVEL_ELEMENT && name_place(name->id) != child->own &&
	       !names_find(names, name->id);
}

/* Only the host itself says its own name, by way of the child that it is below. */
static void name_take(struct hearsay *said, const struct hearsay_child *child, uint32_t teller,
		      struct names *names, const struct name *name)
{
	bool its = below_names(child->below, name->id);

	if (name->level >= LEVEL_COUNT || (!its && !is_nobodys(child, names, name)))
		return;
	if (its && !below_spells(child->below, name)) {
		said->stolen++;
		snprintf(said->theft, sizeof(said->theft), "%s", name->text);
	} else if (names_hear(names, name) < 0) {
		said->left_out += errno == ENOBUFS;
	} else if (name->level == LEVEL_ELEMENT &&
		   below_holds(child->below, name->id, name->rank)) {
		tellers_own(names_tellers(names), teller, name->rank);
	}
}

static void names_take(struct hearsay *said, const struct hearsay_child *child, uint32_t teller,
		       const Evspace__Answer *a, struct names *names)
{
	for (size_t i = 0; i < a->n_names; i++) {
		const Evspace__Name *n = a->names[i];
		uint16_t level = n->level < LEVEL_COUNT ? (uint16_t)n->level : LEVEL_COUNT;

		name_take(said, child, teller, names,
			  &(struct name){n->id, n->rank, level, (uint16_t)n->channel, n->text,
					 n->born});
	}
}

/* Has the child used no more of @most than it leaves? @all is what all use. */
static bool has_room(size_t used, size_t all, size_t most)
{
	return all < most && used <= most - all;
}

static bool names_have_room(const struct hearsay *said, const struct names_use *all)
{
	return has_room(said->use.names, all->names, NAMES_MAX) &&
	       has_room(said->use.changes, all->changes, NAMES_CHANGES_MAX);
}

/* How much more it may use, so that it leaves as much as it uses. */
static size_t room_left(size_t used, size_t all, size_t most)
{
	return has_room(used, all, most) ? (most - all - used) / 2 : 0;
}

static void count(size_t *used, size_t before, size_t now)
{
	/* the names may have been replaced */
	if (*used > before)
		*used = before;
	*used += now > before ? now - before : 0;
}

/* The number of hexadecimal digits: logs again when it grows sixteenfold. */
static unsigned sixteens(size_t n)
{
	unsigned digits = 0;

	for (; n > 0; n >>= 4)
		digits++;
	return digits;
}

/* Report what the child did for the first time. */
static int hearsay_judge(const struct hearsay *said, const struct hearsay *was, uint32_t teller,
			 struct names *names, struct error *e)
{
	uint32_t comm;
	const char *other;

	if (said->many_names > was->many_names || said->many_comms > was->many_comms) {
		errorf(e,
		       "it has said more %s than it leaves for all others; further ones are "
		       "ignored",
		       said->many_names > was->many_names ? "names" : "communicators");
		return 1;
	}
	if (sixteens(said->left_out) > sixteens(was->left_out)) {
		errorf(e,
		       "%zu of its names and communicators are ignored so far: names have %zu MiB "
		       "here for all consumers, and one consumer must leave as much as it uses",
		       said->left_out, QUOTA_KIND >> 20);
		return 1;
	}
	if (sixteens(said->stolen) > sixteens(was->stolen)) {
		errorf(e,
		       "%zu of its names so far claim other hosts, the last is \"%s\"; they are "
		       "ignored",
		       said->stolen, said->theft);
		return 1;
	}
	if (said->slow > was->slow) {
		errorf(e, "checking who owns the processes in its communicators takes too long; "
			  "the rest of its message is ignored");
		return 1;
	}
	other = tellers_contradicted(names_tellers(names), teller, &comm);
	if (!other)
		return 0;
	errorf(e,
	       "it and %s contradict each other about communicator %08x: if only one of them has a "
	       "process in it, that one is believed; further cases are not logged",
	       other, comm);
	return 1;
}

static int hearsay_take(struct hearsay *said, const struct hearsay_child *child,
			const Evspace__Answer *answer, struct names *names, struct error *e)
{
	struct names_use was = names_use(names), now;
	uint32_t teller = tellers_number(names_tellers(names), child->node);
	struct names_talk talk = {
		.teller = teller,
		.comms = room_left(said->use.comms, was.comms, NAMES_COMM_MAX),
		.members = room_left(said->use.members, was.members, NAMES_MEMBERS_MAX),
		.moves = NAMES_MOVES_MAX,
	};
	const struct hearsay before = *said;
	bool takes_names = names_have_room(said, &was);

	if (dictionary_check(answer, e) < 0)
		return -1;
	if (takes_names)
		names_take(said, child, teller, answer, names);
	dictionary_take(answer->comms, answer->n_comms, names, &talk);
	now = names_use(names);
	count(&said->use.names, was.names, now.names);
	count(&said->use.changes, was.changes, now.changes);
	count(&said->use.comms, was.comms, now.comms);
	count(&said->use.members, was.members, now.members);
	said->many_names |= answer->n_names && !takes_names;
	said->many_comms |= talk.full;
	said->left_out += talk.left_out;
	said->slow |= talk.slow;
	return hearsay_judge(said, &before, teller, names, e);
}

/* Most answers announce nothing. */
int hearsay_learn(struct hearsay *said, const struct hearsay_child *child,
		  const Evspace__Answer *answer, struct names *names, struct error *e)
{
	if (answer->n_names == 0 && answer->n_comms == 0 &&
	    !tellers_contradict_anew(names_tellers(names)))
		return 0;
	return hearsay_take(said, child, answer, names, e);
}
