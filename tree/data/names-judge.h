/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom to believe of two who say different things about a communicator. Only names-comm.c includes
 * this. */
#ifndef EVSPACE_NAMES_JUDGE_H
#define EVSPACE_NAMES_JUDGE_H

#include "tree/data/names-private.h"

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
