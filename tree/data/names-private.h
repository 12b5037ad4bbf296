/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of struct names, for the files of names alone. */
#ifndef EVSPACE_NAMES_PRIVATE_H
#define EVSPACE_NAMES_PRIVATE_H

#include "pathmap/base/hash.h"
#include "tree/data/arena.h"
#include "tree/data/names-comm.h"
#include "tree/data/tellers.h"

struct names_entry;
struct slot;

/** A communicator or a label; their ids are independent of each other. */
struct comm {
	struct name_comm comm;
	int32_t *kept;	 /* memory for comm.members, or NULL */
	size_t room;	 /* of `kept`, in members; a group has some to grow into */
	size_t logged;	 /* its last index in the log, from 1; 0: none */
	uint32_t teller; /* whose word it is, TELLER_NOBODY: nobody's, or that of two */
	bool group;	 /* of PVM: members come one by one */
	bool shared;	 /* another teller that has a process in it says the same */
	bool settled;	 /* was replaced once: the next contradiction makes it disputed for good */
	UT_hash_handle by_id;
};

struct names {
	struct arena memory; /* of entries, communicators, and processes; freed with the names */
	uint32_t place;
	uint32_t next_local; /* the number that names_group() gives out next */
	struct slot *slots;  /* open addressing by id */
	unsigned bits;	     /* 1 << bits slots */
	size_t n;
	struct names_entry *texts;
	unsigned generation; /* counts replacements: older values of slot.group are void */
	uint32_t *log;	     /* ids in order of coming */
	size_t n_log;
	struct comm *comms, *labels;
	struct comm **comm_log;
	size_t n_comm_log;
	size_t comm_said; /* how much of the log was announced */
	size_t n_members; /* of all communicators */
	struct tellers *tellers;
};

void names_comms_free(struct names *names);

/* ---- names-judge.c: whom to believe when two tellers contradict each other ---- */

/** Looking up a process's owner takes as long as moving this many members. */
#define NAMES_LOOK_STEPS 16u

/** Take @steps from @talk's. Returns false, and takes all, if fewer are left. */
bool names_judge_step(struct names_talk *talk, size_t steps);

/** Has @teller a process in @comm? TELLERS_CONTESTED: only processes that others claim, too;
 * TELLERS_OTHERS: none. */
enum tellers_has names_judge_in(const struct names *names, struct names_talk *talk, uint32_t teller,
				const struct name_comm *comm);

enum verdict { KNOWN_HOLDS, NEW_HOLDS, NEITHER_HOLDS };

/** Decide between what is @known and what @talk's teller has @said, by the rules of
 * names_comm_hear(). *@final: both have a process in it. */
enum verdict names_judge(const struct names *names, struct names_talk *talk,
			 const struct comm *known, const struct name_comm *said, bool *final);

#endif
