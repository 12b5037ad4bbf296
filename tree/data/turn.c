/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of work, and a timer of 0 that runs one piece in each turn of the loop. */
#include "tree/data/turn.h"

#include <event2/event.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

struct turns {
	TAILQ_HEAD(, turn) waiting;
	struct event *timer;
};

/* An active event would run in the same turn of the loop, before others. */
static void turns_wait(const struct turns *t)
{
	static const struct timeval now = {0, 0};

	evtimer_add(t->timer, &now);
}

static void turns_go(evutil_socket_t fd, short what, void *arg)
{
	struct turns *t = arg;
	struct turn *turn = TAILQ_FIRST(&t->waiting);

	(void)fd;
	(void)what;
	if (!turn)
		return;
	turn_drop(t, turn);
	if (!TAILQ_EMPTY(&t->waiting))
		turns_wait(t);
	turn->go(turn->arg);
}

struct turns *turns_new(struct event_base *base)
{
	struct turns *t = memory_new(1, sizeof(*t));

	TAILQ_INIT(&t->waiting);
	t->timer = evtimer_new(base, turns_go, t);
	if (!t->timer)
		abort();
	return t;
}

void turns_free(struct turns *t)
{
	if (!t)
		return;
	event_free(t->timer);
	free(t);
}

void turn_ask(struct turns *t, struct turn *turn)
{
	if (turn->queued)
		return;
	turn->queued = true;
	TAILQ_INSERT_TAIL(&t->waiting, turn, entry);
	turns_wait(t);
}

void turn_drop(struct turns *t, struct turn *turn)
{
	if (!turn->queued)
		return;
	turn->queued = false;
	TAILQ_REMOVE(&t->waiting, turn, entry);
}
