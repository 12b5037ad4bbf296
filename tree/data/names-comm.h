/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and labels in a scope, which are said once per link as names are. */
#ifndef EVSPACE_NAMES_COMM_H
#define EVSPACE_NAMES_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/names.h"

/** What a place takes at most: communicators, members of one and of all. */
#define NAMES_COMM_MAX	  (1u << 16)
#define NAMES_MEMBER_MAX  (1u << 20)
#define NAMES_MEMBERS_MAX (1u << 24)

/** Steps that what one child says at once may take: some 20 ms. */
#define NAMES_MOVES_MAX (1u << 21)

/** A communicator, so that "who waits for whom" can be answered. */
struct name_comm {
	uint32_t id, parent, size;
	int32_t *members; /* world ranks, `size` of them; NULL: the world's own, or unknown */
	int world;	  /* its members are those of the world */
	char *label;   /* of a region or phase, which the program has named; NULL: a communicator */
	bool disputed; /* tellers contradict each other: the members are unknown, it is no world */
};

/** Is it the one of all processes that were started together, and not another one of the same
 * processes? NULL is not. */
static inline bool names_comm_is_world(const struct name_comm *comm)
{
	return comm && comm->world && comm->parent == 0;
}

/** By whose word something comes to be known, and how much may. It is counted down. */
struct names_talk {
	uint32_t teller; /* tree/data/tellers.h */
	size_t comms;	 /* communicators and labels that are to be announced for it */
	size_t members;	 /* of communicators that come to be known */
	size_t moves; /* steps: of members that make room for others, and to look whose they are */
	bool full;    /* something was not learnt for want of room */
	bool slow;    /* … for want of steps */
	size_t left_out; /* communicators that are not known, or not who is in them, as the memory
			    was not granted (names_grant_set()) */
};

/**
 * As with names: learn a communicator, of which all is copied, find one, walk over those to
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

/** Are the @n numbers at @list in ascending order, each once? */
bool members_ordered(const int32_t *list, size_t n);

/** Where @number is, or would be, among the @n at @list, when not before @from. The time it takes
 * is the logarithm of how far that is from @from. */
size_t members_place(const int32_t *list, size_t n, size_t from, int32_t number);

/** How many of the @n at @list change their places when @more, which has some and is not in
 * @list, comes to them. */
size_t members_moved(const int32_t *list, size_t n, const int32_t *more);

/** Put the @n_more at @more, of which none is there, among the @n at @list, which has room. */
void members_merge(int32_t *list, size_t n, const int32_t *more, size_t n_more);

#endif
