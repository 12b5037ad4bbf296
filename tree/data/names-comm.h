/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and labels in a scope, announced once per link as names are. */
#ifndef EVSPACE_NAMES_COMM_H
#define EVSPACE_NAMES_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/names.h"

/** Limits of a place: communicators, members of one, members of all. */
#define NAMES_COMM_MAX	  (1u << 16)
#define NAMES_MEMBER_MAX  (1u << 20)
#define NAMES_MEMBERS_MAX (1u << 24)

/** Steps that one message of a child may take: some 20 ms. */
#define NAMES_MOVES_MAX (1u << 21)

/** A communicator, to find out who waits for whom. */
struct name_comm {
	uint32_t id, parent, size;
	int32_t *members; /* world ranks, `size` of them; NULL: all of the world, or unknown */
	int world;	  /* its members are those of the world */
	char *label;	  /* of a region or phase, given by the program; NULL: a communicator */
	bool disputed;	  /* tellers contradict each other: the members are unknown, and `world` is
			   * 0 */
};

/** Is it the world's own communicator, and not another one of the same processes? Not if NULL. */
static inline bool names_comm_is_world(const struct name_comm *comm)
{
	return comm && comm->world && comm->parent == 0;
}

/** Who speaks, and what may still be learnt from it; the limits are counted down. */
struct names_talk {
	uint32_t teller; /* tree/data/tellers.h */
	size_t comms;	 /* communicators and labels to announce */
	size_t members;	 /* of communicators */
	size_t moves;	 /* steps: members moved to make room for others, and lookups of owners */
	bool full;	 /* something was not learnt because a limit was reached */
	bool slow;	 /* … because the steps were used up */
	size_t left_out; /* communicators that are not learnt, or without their members, since
			  * the memory was not granted (names_grant_set()) */
};

/**
 * Learn a communicator or label (with `label`) that a peer says; copies all of it.
 *
 * Members of a communicator are learnt once, or left out if there is no room. Each task of a PVM
 * group says only that itself is a member: the new members, in ascending order, are added to the
 * known ones, except for other tellers' processes.
 *
 * When two tellers contradict each other, one is believed if only it has a process in the
 * communicator as the other one describes it, TELLER_SELF even if both have one. If neither has
 * one, what is known holds against a teller without a process in its own description, and
 * TELLER_SELF replaces the word of such a teller. In all other cases the communicator becomes
 * disputed, and its members unknown; also if one that replaced the other's word is contradicted
 * again. A process that several tellers claim counts for none. A teller other than TELLER_SELF may
 * change its own word, unless another one with a process in it has agreed.
 *
 * Ids of labels are hashes of their texts (tree/data/names-comm.h). For a text in which characters
 * were replaced by '?', any id is accepted; the first one holds.
 *
 * Returns 0, or -1 (EPROTO): id 0; a label that is too long, not printable ASCII, or has another
 * one's id; a contradiction that is not believed; a limit is reached.
 */
int names_comm_hear(struct names *names, struct names_talk *talk, const struct name_comm *comm);

/** Learn one that this host's own programs have recorded: @members, @size of them, or NULL. */
int names_comm_learn(struct names *names, uint32_t id, uint32_t parent, uint32_t size, int world,
		     const int32_t *members);
int names_label_learn(struct names *names, uint32_t id, const char *text);

/** Find one by its id, or NULL. */
const struct name_comm *names_comm_find(const struct names *names, uint32_t id);
const char *names_label_find(const struct names *names, uint32_t id);

/** The log: its length, and its entry @i. Entries beyond those of names_comm_said() are to be
 * announced. */
size_t names_comm_count(const struct names *names);
const struct name_comm *names_comm_at(const struct names *names, size_t i);

/** The first @n are announced: a later change of these is logged again. */
void names_comm_said(struct names *names, size_t n);

/** Are the @n numbers at @list in strictly ascending order? */
bool members_ordered(const int32_t *list, size_t n);

/** The index of @number, or where to insert it, in the @n at @list, known not to be before @from.
 * Takes time logarithmic in the distance from @from. */
size_t members_place(const int32_t *list, size_t n, size_t from, int32_t number);

/** How many of the @n at @list move when @more is merged in, which is not empty and has none of
 * them. */
size_t members_moved(const int32_t *list, size_t n, const int32_t *more);

/** Merge the @n_more at @more into the @n at @list, which has room for them; no number is in
 * both. */
void members_merge(int32_t *list, size_t n, const int32_t *more, size_t n_more);

/** The number of the label @text of @length bytes: FNV-1a (Fowler, Noll, Vo), never 0. */
static inline uint32_t label_id(const char *text, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash ? hash : 1;
}

#endif
