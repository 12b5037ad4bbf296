/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the places of a part of a tree, in order, and checks answers against them. */
#include "tree/scope/below.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "tree/data/process.h"

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
		i = (size_t)(index_find(p->index, below->leaves, below->n) - below->leaves);
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
	return index_find(leaf, below->leaves, below->n) != NULL;
}

bool below_names(const struct below *below, uint32_t id)
{
	return index_find(name_place(id), below->places, below->n_places) != NULL;
}

/* ---- names ---- */

static const struct below_host *host_find(const struct below *below, uint32_t id)
{
	const uint32_t *at = index_find(name_place(id), below->leaves, below->n);

	return at ? &below->hosts[at - below->leaves] : NULL;
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

bool below_holds(const struct below *below, uint32_t id, int32_t number)
{
	const struct below_host *by = host_find(below, id);

	if (!by || !by->place->placed || process_is_task(number) ||
	    (by->place->holds && strcmp(by->place->holds, "all") == 0))
		return true;
	return number >= 0 && interval_set_have(&by->holds, (uint64_t)number);
}

/* ---- answers ---- */

static int stranger(uint32_t leaf, struct error *e)
{
	errno = EPROTO;
	return errorf(e, "refused: its answer speaks for leaf %u, which is not below it", leaf);
}

/* What an answer has said so far. */
struct spoken {
	const struct below *below;
	const Evspace__Answer *answer;
	bool *of;	 /* by leaf: it was spoken for */
	uint32_t leaves; /* leaves with a part */
	size_t parts;	 /* since the last mark */
};

/* An answer speaks once for a leaf: says that it is missing, or brings its part. */
static int leaf_check(struct spoken *s, uint32_t leaf, struct error *e)
{
	const uint32_t *at = index_find(leaf, s->below->leaves, s->below->n);

	errno = EPROTO;
	if (!at)
		return stranger(leaf, e);
	if (s->of[at - s->below->leaves])
		return errorf(e, "refused: its answer speaks for leaf %u twice", leaf);
	s->of[at - s->below->leaves] = true;
	return 0;
}

static int missing_check(struct spoken *s, struct error *e)
{
	const Evspace__Answer *answer = s->answer;
	size_t n = s->below->n;

	errno = EPROTO;
	if (answer->n_missing > n || answer->leaves > n - answer->n_missing)
		return errorf(e,
			      "refused: its answer has %u leaves and lacks %zu, but %zu are "
			      "below it",
			      answer->leaves, answer->n_missing, n);
	for (size_t i = 0; i < answer->n_missing; i++) {
		if (leaf_check(s, answer->missing[i]->leaf, e) < 0)
			return -1;
	}
	return 0;
}

/* A part must be of the wave that is answered, whether asked for the first time or again. */
static int part_check(struct spoken *s, const struct run_view *view, struct error *e)
{
	errno = EPROTO;
	if (!(view->run->flags & RUN_FOLD)) {
		s->parts++;
		s->leaves++;
		if (view->run->first == s->answer->wave)
			return leaf_check(s, view->run->element, e);
		return errorf(e, "refused: its answer to wave %llu has a part of wave %llu",
			      (unsigned long long)s->answer->wave,
			      (unsigned long long)view->run->first);
	}
	if (view->part->elements > s->parts)
		return errorf(e, "refused: its answer has a mark over %u parts behind %zu",
			      view->part->elements, s->parts);
	s->parts = 0;
	return 0;
}

static bool run_is_below(const struct below *below, const struct names *names,
			 const struct run *run)
{
	const struct name *name;

	if (below_names(below, run->element))
		return run->kind != RUN_NEWEST ||
		       name_place(run->element) == name_place(run->element + run->count - 1);
	name = run->kind == RUN_NEWEST ? NULL : names_find(names, run->element);
	return name && name->level > LEVEL_ELEMENT && below_spells(below, name);
}

static int body_check(struct spoken *s, const struct names *names, const struct batch *body,
		      struct error *e)
{
	struct batch_cursor c = {0};
	struct run_view view;
	uint32_t good = 0; /* index of the last place + 1: runs come place by place */

	while (batch_next_packed(body, &c, &view)) {
		const struct run *run = view.run;

		if (run->kind == RUN_PART) {
			if (part_check(s, &view, e) < 0)
				return -1;
		} else if (run->kind == RUN_NEWEST || name_place(run->element) + 1 != good) {
			if (!run_is_below(s->below, names, run))
				return stranger(name_place(run->element), e);
			good = below_names(s->below, run->element) ? name_place(run->element) + 1
								   : 0;
		}
	}
	errno = EPROTO;
	if (s->leaves != s->answer->leaves)
		return errorf(e, "refused: its answer has %u leaves, but parts of %u",
			      s->answer->leaves, s->leaves);
	return 0;
}

int below_check(const struct below *below, const struct names *names, const Evspace__Answer *answer,
		const struct batch *body, struct error *e)
{
	struct spoken s = {below, answer, memory_new(below->n, sizeof(bool)), 0, 0};
	int result = missing_check(&s, e);

	if (result == 0)
		result = body_check(&s, names, body, e);
	free(s.of);
	return result;
}
