/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns: long work is done in parts, one part of one work in a turn of the loop, so that whoever
 * else waits for the loop waits for no more than that. */
#ifndef EVSPACE_TURN_H
#define EVSPACE_TURN_H

#include <stdbool.h>
#include <sys/queue.h>

/** A part takes about so long, in ns. */
#define TURN_NS 5000000u

struct event_base;
struct turns;

/** Work that is to be gone on with. Plain data of whoever does it. */
struct turn {
	TAILQ_ENTRY(turn) entry;
	bool queued;
	void (*go)(void *arg); /* does a part; it may call turn_ask() again */
	void *arg;
};

/** Aborts when memory is out. */
struct turns *turns_new(struct event_base *base);

/** Nobody waits for a turn any more. NULL is fine. */
void turns_free(struct turns *turns);

/** Call turn->go() from the loop, behind all who have asked before. Once, however often it is asked
 * for until then. */
void turn_ask(struct turns *turns, struct turn *turn);

/** Not any more. */
void turn_drop(struct turns *turns, struct turn *turn);

#endif
