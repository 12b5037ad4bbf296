/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns: long work runs in pieces, one piece in a turn of the loop, so that others wait for one
 * piece at most. */
#ifndef EVSPACE_TURN_H
#define EVSPACE_TURN_H

#include <stdbool.h>
#include <sys/queue.h>

/** About how long a piece takes, in ns. */
#define TURN_NS 5000000u

struct event_base;
struct turns;

/** Work to continue. Plain data, owned by the worker. */
struct turn {
	TAILQ_ENTRY(turn) entry;
	bool queued;
	void (*go)(void *arg); /* does a piece; may call turn_ask() again */
	void *arg;
};

/** Aborts when there is no memory. */
struct turns *turns_new(struct event_base *base);

/** Drops all work that waits. NULL is fine. */
void turns_free(struct turns *turns);

/** Call turn->go() once from the loop, after all earlier requests. More requests until then change
 * nothing. */
void turn_ask(struct turns *turns, struct turn *turn);

/** Cancel the request, if any. */
void turn_drop(struct turns *turns, struct turn *turn);

#endif
