/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and labels: found by id, logged for announcing, and settled when tellers
 * disagree. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/names-comm.h"
#include "tree/data/names-private.h"
#include "tree/data/process.h"

static int refuse(void)
{
	errno = EPROTO;
	return -1;
}

static struct comm *comm_find(struct comm *table, uint32_t id)
{
	struct comm *known;

	HASH_FIND(by_id, table, &id, sizeof(id), known);
	return known;
}

void names_comms_free(struct names *names)
{
	HASH_CLEAR(by_id, names->comms);
	HASH_CLEAR(by_id, names->labels);
	free(names->comm_log);
}

/* ---- bounds of what is learnt ---- */

/* Bytes of each entry in the log. */
#define LOG_BYTES (2 * sizeof(struct comm *))

static bool is_group(const struct name_comm *comm)
{
	return comm->members && comm->size && process_is_task(comm->members[0]) &&
	       members_ordered(comm->members, comm->size);
}

/* Are its members known? A process without memory to record them leaves them out. */
static bool is_listed(const struct name_comm *comm)
{
	return comm->members || comm->world;
}

static bool has_room(const struct names *names, struct names_talk *talk, size_t members)
{
	if (members <= talk->members && members <= NAMES_MEMBERS_MAX - names->n_members)
		return true;
	talk->full = true;
	return false;
}

/* Is there memory for @bytes of what peers say? */
static bool is_granted(struct names *names, struct names_talk *talk, size_t bytes)
{
	if (talk->teller == TELLER_SELF || arena_grant(&names->memory, bytes))
		return true;
	talk->left_out++;
	return false;
}

/* May @bytes be used for one more entry to announce? */
static bool may_log(struct names *names, struct names_talk *talk, size_t bytes)
{
	if (names->n_comm_log < NAMES_COMM_MAX && talk->comms > 0)
		return is_granted(names, talk, LOG_BYTES + bytes);
	talk->full = true;
	return false;
}

static void log_add(struct names *names, struct names_talk *talk, struct comm *known)
{
	talk->comms--;
	names->comm_log = memory_room(names->comm_log, names->n_comm_log, sizeof(struct comm *));
	names->comm_log[names->n_comm_log++] = known;
	known->logged = names->n_comm_log;
}

/* Log it for announcing. Returns false if that is not granted: then it must not change. */
static bool comm_log(struct names *names, struct names_talk *talk, struct comm *known)
{
	if (known->logged > names->comm_said)
		return true;
	if (!may_log(names, talk, 0))
		return false;
	log_add(names, talk, known);
	return true;
}

/* Add an entry with @bytes more after it. */
static struct comm *comm_add(struct names *names, struct names_talk *talk, struct comm **table,
			     uint32_t id, size_t bytes)
{
	struct comm *known, *all = *table;

	bytes += sizeof(*known);
	if (!may_log(names, talk, bytes))
		return NULL;
	known = arena_take(&names->memory, bytes);
	*known = (struct comm){.comm.id = id, .teller = talk->teller};
	log_add(names, talk, known);
	HASH_ADD(by_id, all, comm.id, sizeof(id), known);
	*table = all;
	return known;
}

static void members_drop(struct names *names, struct comm *known)
{
	names->n_members -= known->comm.members ? known->comm.size : 0;
	known->comm.members = NULL;
}

/* Make room for @n members; those it has stay. */
static bool members_room(struct names *names, struct names_talk *talk, struct comm *known, size_t n)
{
	size_t bytes = n * sizeof(*known->kept);
	const int32_t *old = known->comm.members;

	if (n <= known->room)
		return true;
	if (!is_granted(names, talk, bytes))
		return false;
	known->kept = arena_take(&names->memory, bytes);
	known->room = n;
	if (!old)
		return true;
	memcpy(known->kept, old, known->comm.size * sizeof(*old));
	known->comm.members = known->kept;
	return true;
}

/* Make @known what @said says, without the members if there is no room for them. */
static void comm_set(struct names *names, struct names_talk *talk, struct comm *known,
		     const struct name_comm *said)
{
	members_drop(names, known);
	known->comm = *said;
	known->comm.members = NULL;
	known->teller = talk->teller;
	known->group = known->shared = false;
	if (!said->members || !has_room(names, talk, said->size) ||
	    !members_room(names, talk, known, said->size))
		return;
	known->group = is_group(said);
	known->comm.members = known->kept;
	/* an empty one may have no memory */
	if (said->size > 0)
		memcpy(known->kept, said->members, said->size * sizeof(*said->members));
	names->n_members += said->size;
	talk->members -= said->size;
}

/* ---- whom to believe ---- */

static bool comm_dispute(struct names *names, struct names_talk *talk, struct comm *known)
{
	if (known->comm.disputed || !comm_log(names, talk, known))
		return false;
	members_drop(names, known);
	known->comm.world = 0;
	known->comm.disputed = true;
	known->group = false;
	return true;
}

static int comm_contradict(struct names *names, struct names_talk *talk, struct comm *known,
			   const struct name_comm *said)
{
	bool own = known->teller == talk->teller, final;
	bool here = known->teller == TELLER_SELF || talk->teller == TELLER_SELF;
	enum verdict verdict = names_judge(names, talk, known, said, &final);

	if (!own)
		tellers_contradict(names->tellers, known->teller, talk->teller, said->id);
	if (verdict == KNOWN_HOLDS)
		return refuse();
	if (verdict == NEW_HOLDS && (own || here || !known->settled)) {
		if (!comm_log(names, talk, known))
			return refuse();
		comm_set(names, talk, known, said);
		known->settled |= !own;
		return 0;
	}
	if (comm_dispute(names, talk, known)) {
		known->settled |= final;
		known->teller = here ? TELLER_SELF : TELLER_NOBODY;
	}
	return refuse();
}

/* A place above has found a dispute: the members that it learnt from this teller are unknown
 * now. */
static int disputed_hear(struct names *names, struct names_talk *talk, struct comm *known,
			 const struct name_comm *said)
{
	struct name_comm empty = {.id = said->id, .parent = said->parent, .size = said->size};

	empty.disputed = true;
	if (!known) {
		known = comm_add(names, talk, &names->comms, said->id, 0);
		if (known)
			comm_set(names, talk, known, &empty);
		return known ? 0 : refuse();
	}
	if (known->teller == talk->teller && comm_dispute(names, talk, known) && known->shared)
		known->teller = TELLER_NOBODY;
	return 0;
}

/* ---- communicators ---- */

/* Members in other worlds (below 0) match any number. */
static bool members_alike(const struct name_comm *a, const struct name_comm *b)
{
	for (uint32_t i = 0; i < a->size; i++) {
		if (a->members[i] != b->members[i] && a->members[i] >= 0 && b->members[i] >= 0)
			return false;
	}
	return true;
}

/* The parents may differ: the two sides of an intercommunicator make it from different ones. */
static bool is_alike(const struct name_comm *a, const struct name_comm *b)
{
	if (a->size != b->size || !is_listed(a) || !is_listed(b))
		return a->size == b->size;
	return !a->world == !b->world && !a->members == !b->members &&
	       (!a->members || members_alike(a, b));
}

/* Does @known stand by the word of two tellers that each have a process in it? If only @said's
 * teller has one, @known is to become its own. Running out of steps here loses nothing. */
static bool comm_share(struct names *names, struct names_talk *talk, struct comm *known,
		       const struct name_comm *said)
{
	bool slow = talk->slow, done;

	if (known->shared || known->teller == talk->teller ||
	    names_judge_in(names, talk, talk->teller, said) != TELLERS_SOLE)
		done = true;
	else
		done = known->shared =
			names_judge_in(names, talk, known->teller, &known->comm) == TELLERS_SOLE;
	done |= talk->slow;
	talk->slow = slow;
	return done;
}

/* The same is said again, perhaps with the members, or by another teller that has a process in
 * it. */
static int comm_agree(struct names *names, struct names_talk *talk, struct comm *known,
		      const struct name_comm *said)
{
	if (!is_listed(said) || (is_listed(&known->comm) && comm_share(names, talk, known, said)))
		return 0;
	if ((said->members && !has_room(names, talk, said->size)) || !comm_log(names, talk, known))
		return refuse();
	comm_set(names, talk, known, said);
	return 0;
}

/* The members of @said that are not in @known, in @more. */
static uint32_t group_new(const struct name_comm *known, const struct name_comm *said,
			  int32_t *more)
{
	uint32_t n = 0;
	size_t at = 0;

	for (uint32_t i = 0; i < said->size; i++) {
		at = members_place(known->members, known->size, at, said->members[i]);
		if (at == known->size || known->members[at] != said->members[i])
			more[n++] = said->members[i];
	}
	return n;
}

/* Keep those of the @n at @more that are not other tellers'. */
static uint32_t group_more(const struct names *names, struct names_talk *talk, int32_t *more,
			   uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n && names_judge_step(talk, NAMES_LOOK_STEPS); i++) {
		if (tellers_has(names->tellers, talk->teller, more[i]) != TELLERS_OTHERS)
			more[kept++] = more[i];
	}
	return kept;
}

static int group_grow(struct names *names, struct names_talk *talk, struct comm *known,
		      const int32_t *more, uint32_t n)
{
	struct name_comm *group = &known->comm;
	size_t all = (size_t)group->size + n;
	bool full = all > known->room;

	if (all > NAMES_MEMBER_MAX || !has_room(names, talk, n) ||
	    !names_judge_step(talk, n + (full ? group->size : 0) +
					    members_moved(group->members, group->size, more)) ||
	    !comm_log(names, talk, known) ||
	    !members_room(names, talk, known, full ? 2 * all : all))
		return refuse();
	members_merge(group->members, group->size, more, n);
	group->size = (uint32_t)all;
	names->n_members += n;
	talk->members -= n;
	return 0;
}

/* Set the first members of a group that is unknown, or known without members. */
static int group_set(struct names *names, struct names_talk *talk, struct comm *known,
		     const struct name_comm *some)
{
	if (!has_room(names, talk, some->size))
		return refuse();
	if (!known)
		known = comm_add(names, talk, &names->comms, some->id, 0);
	else if (!comm_log(names, talk, known))
		return refuse();
	if (!known)
		return refuse();
	comm_set(names, talk, known, some);
	return 0;
}

static bool is_contrary(const struct comm *known, const struct name_comm *said)
{
	if (known->comm.disputed)
		return true;
	if (known->group)
		return is_listed(said) && !is_group(said);
	/* A group without room for its members contradicts nothing. */
	if (is_group(said))
		return is_listed(&known->comm);
	return !is_alike(&known->comm, said);
}

/* Add the unknown members of a group @some: all of them, if @known is not a group. */
static int group_add(struct names *names, struct names_talk *talk, struct comm *known,
		     struct name_comm *some)
{
	bool grows = known && known->group;

	if (some->size == 0)
		return 0;
	if (!has_room(names, talk, some->size))
		return refuse();
	some->size = group_more(names, talk, some->members, some->size);
	if (some->size == 0)
		return grows && !talk->slow ? 0 : refuse();
	if (grows)
		return group_grow(names, talk, known, some->members, some->size);
	if (known && is_contrary(known, some))
		return comm_contradict(names, talk, known, some);
	return group_set(names, talk, known, some);
}

static int group_hear(struct names *names, struct names_talk *talk, struct comm *known,
		      const struct name_comm *said)
{
	static const struct name_comm none = {.id = 0};
	const struct name_comm *group = known && known->group ? &known->comm : &none;
	struct name_comm some = *said;
	int result;

	if (!names_judge_step(talk, said->size))
		return refuse();
	some.members = memory_new(said->size, sizeof(*some.members));
	some.size = group_new(group, said, some.members);
	result = group_add(names, talk, known, &some);
	free(some.members);
	return result;
}

/* ---- labels ---- */

/* Is @text valid, and @id its number as a collector gives it? */
static bool label_sound(uint32_t id, const char *text)
{
	size_t length = strnlen(text, NAME_BYTES);

	if (id == 0 || length == NAME_BYTES)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return id == label_id(text, length) || strchr(text, '?');
}

static int label_hear(struct names *names, struct names_talk *talk, const struct name_comm *said)
{
	struct comm *known;
	size_t bytes;

	if (!label_sound(said->id, said->label))
		return refuse();
	if (comm_find(names->labels, said->id))
		return 0;
	bytes = strlen(said->label) + 1;
	known = comm_add(names, talk, &names->labels, said->id, bytes);
	if (!known)
		return refuse();
	known->comm.label = memcpy(known + 1, said->label, bytes);
	return 0;
}

/* ---- end ---- */

int names_comm_hear(struct names *names, struct names_talk *talk, const struct name_comm *said)
{
	struct comm *known;

	if (said->label)
		return label_hear(names, talk, said);
	if (said->id == 0 || (said->members && said->size > NAMES_MEMBER_MAX))
		return refuse();
	known = comm_find(names->comms, said->id);
	if (said->disputed)
		return disputed_hear(names, talk, known, said);
	if (is_group(said))
		return group_hear(names, talk, known, said);
	if (known && is_contrary(known, said))
		return comm_contradict(names, talk, known, said);
	if (known)
		return known->group ? 0 : comm_agree(names, talk, known, said);
	known = comm_add(names, talk, &names->comms, said->id, 0);
	if (!known)
		return refuse();
	comm_set(names, talk, known, said);
	return 0;
}

static int learn(struct names *names, const struct name_comm *comm)
{
	struct names_talk talk = {
		.teller = TELLER_SELF, .comms = SIZE_MAX, .members = SIZE_MAX, .moves = SIZE_MAX};

	return names_comm_hear(names, &talk, comm);
}

int names_comm_learn(struct names *names, uint32_t id, uint32_t parent, uint32_t size, int world,
		     const int32_t *members)
{
	const struct name_comm comm = {id,    parent, size, (int32_t *)(uintptr_t)members,
				       world, NULL,   false};

	return learn(names, &comm);
}

int names_label_learn(struct names *names, uint32_t id, const char *text)
{
	const struct name_comm label = {.id = id, .label = (char *)(uintptr_t)text};

	return learn(names, &label);
}

const char *names_label_find(const struct names *names, uint32_t id)
{
	const struct comm *known = comm_find(names->labels, id);

	return known ? known->comm.label : NULL;
}

const struct name_comm *names_comm_find(const struct names *names, uint32_t id)
{
	const struct comm *known = comm_find(names->comms, id);

	return known ? &known->comm : NULL;
}

size_t names_comm_count(const struct names *names)
{
	return names->n_comm_log;
}

const struct name_comm *names_comm_at(const struct names *names, size_t i)
{
	return &names->comm_log[i]->comm;
}

void names_comm_said(struct names *names, size_t n)
{
	if (n > names->comm_said)
		names->comm_said = n;
}
