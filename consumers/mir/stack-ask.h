/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a run, and stacks of all their threads, as agents read them on their hosts. */
#ifndef EVSPACE_STACK_ASK_H
#define EVSPACE_STACK_ASK_H

#include "consumers/mir/snapshot.h"

/** Most frames that are asked for: agents say no more. */
#define STACK_ASK_FRAMES 64u

/** Ask all agents for them, stacks down to @depth frames (0: without), for the snapshot that is
 * coming. */
void stack_ask(struct snapshots *snapshots, unsigned depth, unsigned deadline_ms);

/** Answered or not: it is not waited for any more. */
void stack_ask_end(struct snapshots *snapshots);

#endif
