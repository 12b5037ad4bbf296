/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns names and communicators from answers, and keeps count of whom they are from. */
#include "tree/hearsay.h"

#include "tree/announce.h"

/* Who is below the child alone says what that is called. A host that has two parts of a scope may
 * know a group by the name that another part's host was first to give it. */
static bool name_is_its(const struct below *below, uint32_t own, const struct names *names,
			const Evspace__Name *n)
{
	if (n->level >= LEVEL_COUNT)
		return false;
	return below_names(below, n->id) ||
	       (n->level != LEVEL_ELEMENT && name_place(n->id) != own && !names_find(names, n->id));
}

static void names_take(const struct below *below, uint32_t own, const Evspace__Answer *a,
		       struct names *names)
{
	for (size_t i = 0; i < a->n_names; i++) {
		const Evspace__Name *n = a->names[i];

		if (name_is_its(below, own, names, n))
			names_learn(names, n->id, n->level, n->rank, (uint16_t)n->channel, n->text);
	}
}

static void comms_take(const Evspace__Answer *a, struct names *names)
{
	for (size_t i = 0; i < a->n_comms; i++) {
		const Evspace__Comm *c = a->comms[i];
		const int32_t *members = c->n_members == c->size ? c->members : NULL;

		if (c->label[0])
			names_label_learn(names, c->id, c->label);
		else
			names_comm_learn(names, c->id, c->parent, c->size, c->world, members);
	}
}

/* What the child has used of @most, of which @all is used. */
static bool has_room(size_t used, size_t all, size_t most)
{
	return all < most && used <= most - all;
}

static bool names_have_room(const struct hearsay *said, const struct names_use *all)
{
	return has_room(said->use.names, all->names, NAMES_MAX) &&
	       has_room(said->use.changes, all->changes, NAMES_CHANGES_MAX);
}

static bool comms_have_room(const struct hearsay *said, const struct names_use *all)
{
	return has_room(said->use.comms, all->comms, NAMES_COMM_MAX) &&
	       has_room(said->use.members, all->members, NAMES_MEMBERS_MAX);
}

static void count(size_t *used, size_t before, size_t now)
{
	/* The names may be others than those of old. */
	if (*used > before)
		*used = before;
	*used += now > before ? now - before : 0;
}

int hearsay_learn(struct hearsay *said, const struct below *below, uint32_t own,
		  const Evspace__Answer *answer, struct names *names, struct error *e)
{
	struct names_use was = names_use(names), now;
	bool takes_names = names_have_room(said, &was), takes_comms = comms_have_room(said, &was);
	bool was_full = said->full;

	if (announce_check(answer, e) < 0)
		return -1;
	if (takes_names)
		names_take(below, own, answer, names);
	if (takes_comms)
		comms_take(answer, names);
	now = names_use(names);
	count(&said->use.names, was.names, now.names);
	count(&said->use.changes, was.changes, now.changes);
	count(&said->use.comms, was.comms, now.comms);
	count(&said->use.members, was.members, now.members);
	said->full |= (answer->n_names && !takes_names) || (answer->n_comms && !takes_comms);
	if (!said->full || was_full)
		return 0;
	errorf(e,
	       "it has said more %s than it leaves for all others; it is not listened to for more",
	       takes_names ? "communicators" : "names");
	return 1;
}
