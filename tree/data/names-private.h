/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of names share: a table's inside. Nobody else includes this. */
#ifndef EVSPACE_NAMES_PRIVATE_H
#define EVSPACE_NAMES_PRIVATE_H

#include "pathmap/base/hash.h"
#include "tree/data/arena.h"
#include "tree/data/names-comm.h"
#include "tree/data/tellers.h"

struct names_entry;
struct slot;

/** A communicator, or a label: their numbers have nothing to do with each other. */
struct comm {
	struct name_comm comm;
	int32_t *kept;	 /* where comm.members are, if any are known */
	size_t room;	 /* for so many; what a group has beyond its size is to grow into */
	size_t logged;	 /* where it is in the log last, from 1; 0: nowhere */
	uint32_t teller; /* by whose word it is what it is, TELLER_NOBODY: by none, or by two */
	bool group;	 /* of PVM: members come one by one */
	bool shared;	 /* another one who has a process in it says the same */
	bool settled;	 /* has been made something else once: the next contradiction is the last */
	UT_hash_handle by_id;
};

struct names {
	struct arena memory; /* of entries, communicators, and processes: nothing is given back */
	uint32_t place;
	uint32_t next_local; /* the number that names_group() gives out next */
	struct slot *slots;  /* open addressing by id */
	unsigned bits;	     /* 1 << bits slots */
	size_t n;
	struct names_entry *texts;
	unsigned generation; /* counts replacements: conclusions from before are void */
	uint32_t *log;	     /* ids in order of coming */
	size_t n_log;
	struct comm *comms, *labels;
	struct comm **comm_log;
	size_t n_comm_log;
	size_t comm_said; /* how far somebody has read in that */
	size_t n_members; /* of all communicators */
	struct tellers *tellers;
};

void names_comms_free(struct names *names);

/* ---- names-judge.c: whom to believe of two who say different things about a communicator ---- */

/** To look whose a process is takes as long as to move so many members. */
#define NAMES_LOOK_STEPS 16u

/** The steps of what is under way are taken from @talk's; false: there are not so many left, and
 * none from now on. */
bool names_judge_step(struct names_talk *talk, size_t steps);

/** Has @teller a process in @comm? TELLERS_CONTESTED: but none that he alone has;
 * TELLERS_OTHERS: none. */
enum tellers_has names_judge_in(const struct names *names, struct names_talk *talk, uint32_t teller,
				const struct name_comm *comm);

enum verdict { KNOWN_HOLDS, NEW_HOLDS, NEITHER_HOLDS };

/**
 * Who has a process in it by the other one's word knows better than who has none by that; this host
 * knows its own. What several have decides nothing. *@final: both have one.
 */
enum verdict names_judge(const struct names *names, struct names_talk *talk,
			 const struct comm *known, const struct name_comm *said, bool *final);

#endif
