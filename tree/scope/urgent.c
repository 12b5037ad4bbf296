/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the agent into the class that its scopes want, and measures whether that is too meek. */
#include "tree/scope/urgent.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/schedule.h"

/* How long it waited is looked at no more often. */
#define LOOK_NS UINT64_C(10000000)

/* A wish counts for so many intervals after its last ask, and so long. */
#define WISH_INTERVALS 4
#define WISH_NS	       UINT64_C(100000000)

struct urgent {
	LIST_HEAD(, urgent_wish) wishes;
	enum urgency ceiling, now; /* URGENCY_UNSAID: leave it as it is */
	enum urgency least;	   /* what it can come back from */
	bool tried;		   /* `least` is known */
	struct urgency_lift lift;
	int waited; /* descriptor, or -1 */
	uint64_t looked_ns, waited_ns, unsaid_ns;
};

struct urgent *urgent_new(void)
{
	struct urgent *u = memory_new(1, sizeof(*u));

	LIST_INIT(&u->wishes);
	u->ceiling = u->now = schedule_class();
	u->least = URGENCY_IDLE;
	u->waited = schedule_waited_open();
	if (u->waited >= 0)
		schedule_waited(u->waited, &u->waited_ns);
	return u;
}

void urgent_free(struct urgent *u)
{
	if (!u)
		return;
	if (u->waited >= 0)
		close(u->waited);
	free(u);
}

/* Whoever is idle for good could not keep a deadline. */
static enum urgency urgent_possible(struct urgent *u, enum urgency to)
{
	if (to == URGENCY_IDLE && u->ceiling > URGENCY_IDLE && !u->tried) {
		u->tried = true;
		if (!schedule_returns()) {
			u->least = URGENCY_BATCH;
			fputs("evspace agent: this host would not let it leave the scheduling "
			      "class idle again, so it is in batch where idle is asked for; allow "
			      "it by ulimit -e 20, or LimitNICE=+0 of its unit\n",
			      stderr);
		}
	}
	return to > u->least ? to : u->least;
}

static void urgent_be(struct urgent *u, enum urgency to)
{
	struct error e;

	if (to == u->now)
		return;
	to = urgent_possible(u, to);
	if (to == u->now)
		return;
	if (schedule_class_set(to, &e) < 0) {
		fprintf(stderr, "evspace agent: it stays in the scheduling class %s: %s\n",
			urgency_word(u->now), e.text);
		u->ceiling = URGENCY_UNSAID;
		return;
	}
	u->now = to;
}

/* How long it has waited since the last look. */
static uint64_t urgent_look(struct urgent *u, uint64_t now)
{
	uint64_t before = u->waited_ns;

	if (u->waited < 0 || now - u->looked_ns < LOOK_NS)
		return 0;
	u->looked_ns = now;
	if (schedule_waited(u->waited, &u->waited_ns) < 0 || u->waited_ns < before)
		return 0;
	u->unsaid_ns += u->waited_ns - before;
	return u->waited_ns - before;
}

static void urgent_settle(struct urgent *u)
{
	struct urgency_seen seen = {.ceiling = u->ceiling, .now_ns = clock_mono_ns()};
	const struct urgent_wish *w;
	uint32_t deadline_ms = UINT32_MAX;

	seen.waited_ns = urgent_look(u, seen.now_ns);
	if (u->ceiling == URGENCY_UNSAID)
		return;
	LIST_FOREACH (w, &u->wishes, entry) {
		if (w->until_ns < seen.now_ns)
			continue;
		seen.asked = w->urgency > seen.asked ? w->urgency : seen.asked;
		deadline_ms = w->deadline_ms < deadline_ms ? w->deadline_ms : deadline_ms;
	}
	seen.patience_ns = deadline_ms * UINT64_C(1000000) / URGENCY_PART;
	urgent_be(u, urgency_decide(&u->lift, &seen));
}

void urgent_ask(struct urgent *u, struct urgent_wish *wish, const struct urgent_wish *wanted)
{
	wish->urgency = wanted->urgency;
	wish->deadline_ms = wanted->deadline_ms;
	wish->until_ns = clock_mono_ns() + WISH_INTERVALS * wanted->every_ns + WISH_NS;
	if (!u)
		return;
	/* how long it waited while nobody asked is no matter */
	if (LIST_EMPTY(&u->wishes)) {
		(void)urgent_look(u, clock_mono_ns());
		u->unsaid_ns = 0;
	}
	if (!wish->open)
		LIST_INSERT_HEAD(&u->wishes, wish, entry);
	wish->open = true;
	urgent_settle(u);
}

void urgent_leave(struct urgent *u, struct urgent_wish *wish)
{
	if (!wish->open)
		return;
	LIST_REMOVE(wish, entry);
	wish->open = false;
	if (LIST_EMPTY(&u->wishes) && u->ceiling != URGENCY_UNSAID)
		urgent_be(u, u->ceiling);
}

uint32_t urgent_waited_us(struct urgent *u)
{
	uint64_t us = u ? u->unsaid_ns / 1000 : 0;

	if (us > 0)
		u->unsaid_ns = 0;
	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

enum urgency urgent_class(const struct urgent *u)
{
	return u ? u->now : URGENCY_UNSAID;
}
