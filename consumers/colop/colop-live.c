/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges who is late by the last seconds alone, so that it can be over. */
#include "consumers/colop/colop-live.h"

#include <stdlib.h>

#include "consumers/colop/colop.h"
#include "pathmap/base/memory.h"

/* That what is told is so. */
#define CONFIDENCE 0.99

/* The least that is told: what others wait for it, of the time of all; in how many operations. */
#define LEAST	    0.05
#define TIMES_LEAST 10u
#define MOST	    3

/* Most arrivals that are kept: 30 MB. */
#define ARRIVALS_MOST 100000u

/* The past is forgotten after so long; how often is looked. */
#define LAST_NS UINT64_C(10000000000)
#define LOOK_NS UINT64_C(500000000)

struct colop_live {
	struct colop colop;
	uint64_t since_ns, looked_ns;
	size_t late; /* when it was looked last, and what is to be said of them */
	char *text;
};

static void forget_once(void *arg, const struct late_once *late)
{
	(void)arg;
	(void)late;
}

static void take_meeting(void *arg, const struct meeting *meeting)
{
	struct colop *c = arg;

	crossings_take(c->crossings, meeting);
	if (meeting->gap == MEETING_WHOLE)
		lateness_add(c->lateness, meeting);
}

struct colop_live *colop_live_new(struct evspace_client *client)
{
	struct colop_live *live = memory_new(1, sizeof(*live));
	struct colop *c = &live->colop;

	c->follow.client = client;
	c->attendance = attendance_new();
	c->order = meeting_order_new(ARRIVALS_MOST, take_meeting, c);
	c->meetings = meetings_new(ARRIVALS_MOST, meeting_order_add, c->order);
	c->arrivals = arrivals_new(c->attendance, c->meetings);
	c->crossings = crossings_new();
	c->lateness = lateness_new(CONFIDENCE, forget_once, c);
	return live;
}

void colop_live_free(struct colop_live *live)
{
	struct colop *c = &live->colop;

	if (!live)
		return;
	arrivals_free(c->arrivals);
	meetings_free(c->meetings);
	meeting_order_free(c->order);
	crossings_free(c->crossings);
	lateness_free(c->lateness);
	attendance_free(c->attendance);
	free(live->text);
	free(live);
}

/* What is known of those that are late outlives their sums. */
static void keep(struct colop_live *live, const struct late_often *found, size_t n)
{
	size_t bytes;
	FILE *out;

	free(live->text);
	out = open_memstream(&live->text, &bytes);
	if (!out)
		abort();
	for (size_t i = 0; i < n; i++)
		colop_say_often(&live->colop, &found[i], "the last seconds", out);
	if (n > 0)
		colop_say_sites(&live->colop, out);
	if (fclose(out) == EOF)
		abort();
	live->late = n;
}

void colop_live_take(struct colop_live *live, uint64_t now_ns)
{
	struct colop *c = &live->colop;
	struct late_often found[MOST];
	size_t n = 0, all;
	bool over;

	evspace_rewind(c->follow.client);
	attendance_turn(c->attendance);
	arrivals_take(c->arrivals, c->follow.client);
	meeting_order_turn(c->order);
	live->since_ns = live->since_ns ? live->since_ns : now_ns;
	if (now_ns - live->looked_ns < LOOK_NS)
		return;
	live->looked_ns = now_ns;
	over = now_ns - live->since_ns >= LAST_NS;
	all = lateness_often(c->lateness, LEAST, found, MOST);
	for (size_t i = 0; i < all; i++) {
		if (found[i].member->times >= TIMES_LEAST)
			found[n++] = found[i];
	}
	/* after a new begin nothing can be told for a while */
	if (n > 0 || over)
		keep(live, found, n);
	if (!over)
		return;
	lateness_free(c->lateness);
	c->lateness = lateness_new(CONFIDENCE, forget_once, c);
	live->since_ns = now_ns;
}

size_t colop_live_late(const struct colop_live *live)
{
	return live->late;
}

void colop_live_say(const struct colop_live *live, FILE *out)
{
	fputs(live->text ? live->text : "", out);
}
