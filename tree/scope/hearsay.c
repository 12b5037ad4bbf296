/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns names and communicators from answers, and counts them by child. */
#include "tree/scope/hearsay.h"

#include <errno.h>
#include <stdio.h>

#include "tree/data/names-comm.h"
#include "tree/data/tellers.h"
#include "tree/scope/quota.h"
#include "tree/wire/dictionary.h"

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
			  &(struct name){n->id, n->rank, level, (uint16_t)n->channel, n->text});
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

int hearsay_learn(struct hearsay *said, const struct hearsay_child *child,
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
