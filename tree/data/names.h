/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in a scope: what the numbers in runs stand for, said once per link (docs/architecture.md).
 */
#ifndef EVSPACE_NAMES_H
#define EVSPACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/pattern.h"
#include "pathmap/plan/plan.h"

/**
 * A name id is unique in its scope without asking anybody: the index of the place that gave it out,
 * and a number of that place's own.
 */
#define NAME_LOCAL_BITS 18
#define NAME_LOCAL_MAX	((1u << NAME_LOCAL_BITS) - 1)
#define NAME_PLACE_MAX	((1u << (32 - NAME_LOCAL_BITS)) - 1)

static inline uint32_t name_id(uint32_t place, uint32_t local)
{
	return place << NAME_LOCAL_BITS | local;
}

static inline uint32_t name_place(uint32_t id)
{
	return id >> NAME_LOCAL_BITS;
}

/** What a place takes at most: names, changes of these over the life of a scope, communicators,
 * members of one and of all. */
#define NAMES_MAX	  (1u << 20)
#define NAMES_CHANGES_MAX (4u * NAMES_MAX)
#define NAMES_COMM_MAX	  (1u << 16)
#define NAMES_MEMBER_MAX  (1u << 20)
#define NAMES_MEMBERS_MAX (1u << 24)

/** Steps that what one child says at once may take: some 20 ms. */
#define NAMES_MOVES_MAX (1u << 21)

/** A communicator, so that "who waits for whom" can be answered. */
struct name_comm {
	uint32_t id, parent, size;
	int32_t *members; /* world ranks, `size` of them; NULL: the world's own, or unknown */
	int world;
	char *label;   /* of a region or phase, which the program has named; NULL: a communicator */
	bool disputed; /* tellers contradict each other: the members are unknown, it is no world */
};

/** By whose word something comes to be known, and how much may. It is counted down. */
struct names_talk {
	uint32_t teller; /* tree/data/tellers.h */
	size_t comms;	 /* communicators and labels that are to be announced for it */
	size_t members;	 /* of communicators that come to be known */
	size_t moves; /* steps: of members that make room for others, and to look whose they are */
	bool full;    /* something was not learnt for want of room */
	bool slow;    /* … for want of steps */
};

/** One name. `text` is "/cluster/node/rank/thread/channel", or a prefix of that above elements. */
struct name {
	uint32_t id;
	int32_t rank;	  /* world rank, -1 if the name is above ranks */
	uint16_t level;	  /* enum level */
	uint16_t channel; /* enum channel, for LEVEL_ELEMENT */
	char *text;
};

/** The names known at one place of a scope, in the order in which they came. */
struct names;

/** @place is the index that ids given out here carry. Aborts when memory is out. */
struct names *names_new(uint32_t place);
void names_free(struct names *names);

/** The place that this is; @place is another one that this host has: ids that are given out from
 * now on carry that. */
uint32_t names_place(const struct names *names);
void names_place_set(struct names *names, uint32_t place);

/** How much of the limits is used. Plain data. */
struct names_use {
	size_t names, changes, comms, members;
};

struct names_use names_use(const struct names *names);

/**
 * Learn a name from below or give one out here: @id from name_id(), numbers from 0 up
 * (names_group() takes those from NAME_LOCAL_MAX down). An id that is known already gets the new
 * name, which is announced again (a leaf that restarted may count anew); the same name once more
 * changes nothing. @text has as many parts as @level wants ("/" for LEVEL_ALL; the cluster's may be
 * empty), each of printable ASCII. Returns 0, or -1 (EPROTO) when not so, or too many names came.
 */
int names_learn(struct names *names, uint32_t id, enum level level, int32_t rank, uint16_t channel,
		const char *text);

/** The name with this id, or NULL. Valid until the next names_learn() or names_group(). O(1). */
const struct name *names_find(const struct names *names, uint32_t id);

/**
 * The id that stands for what @id belongs to at @level (LEVEL_NODE: "/cluster/node" …): the one
 * that was said first for that text, or a new one that is given out here (@id itself when there are
 * no more to give). A name that is at @level or above it already stands for itself. 0 when @id is
 * unknown. O(1) from the second time on.
 */
uint32_t names_group(struct names *names, uint32_t id, enum level level);

/** Number of names learnt or changed so far: @i in [seen, names_count) are to be announced next. */
size_t names_count(const struct names *names);
const struct name *names_at(const struct names *names, size_t i);

/** Who says what about processes. */
struct tellers;
struct tellers *names_tellers(const struct names *names);

/**
 * The same for communicators: learn one, of which all is copied, find one, walk over those to
 * announce. Of PVM's groups each task says only that itself is in it: their members are in
 * ascending order, and those that are learnt come to those that are known, but for other tellers'
 * processes. Of other communicators members are learnt once; when there is no room for them it is
 * known without.
 *
 * When two contradict each other, who alone has a process in the communicator by the other one's
 * word is believed, if the other has none by his; TELLER_SELF in any case. What is known holds
 * against one who has none by any word, and TELLER_SELF's is put before that of such a one. Else it
 * is disputed, and known without members from then on, as it is when one who was believed so is
 * contradicted, too. A process that several say to have decides for none of them. A teller other
 * than TELLER_SELF may change its own word, unless another one who has a process in it has agreed.
 *
 * Names that the program gives to regions and phases are among them (`label`), by ids that are
 * hashes of the texts (tree/data/label-id.h): where characters were replaced by '?' any id is
 * taken, and who was first.
 *
 * Returns 0, or -1 (EPROTO): id 0, a label that is not printable ASCII, too long, or another one's,
 * what contradicts and is not believed, and beyond the limits.
 */
int names_comm_hear(struct names *names, struct names_talk *talk, const struct name_comm *comm);

/** Learn one that this host's own programs have recorded: @members, which are @size, or NULL. */
int names_comm_learn(struct names *names, uint32_t id, uint32_t parent, uint32_t size, int world,
		     const int32_t *members);
int names_label_learn(struct names *names, uint32_t id, const char *text);

/** Find one, or NULL. */
const struct name_comm *names_comm_find(const struct names *names, uint32_t id);
const char *names_label_find(const struct names *names, uint32_t id);

size_t names_comm_count(const struct names *names);
const struct name_comm *names_comm_at(const struct names *names, size_t i);

/** Somebody has announced the first @n: what changes in these is to be announced again. */
void names_comm_said(struct names *names, size_t n);

#endif
