/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges who is late by the last seconds alone, so that it can be over. */
#include "consumers/colop/colop-live.h"

#include <stdlib.h>

#include "consumers/colop/colop.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* That what is told is so. */
#define CONFIDENCE 0.99

/* The least that is told: what others wait for it, of the time of all; in how many operations. And
 * the most ranks, of so many that are looked at. */
#define LEAST	    0.05
#define TIMES_LEAST 10u
#define MOST	    3
#define LOOKED_AT   64

/* Most arrivals that are kept: 30 MB. */
#define ARRIVALS_MOST 100000u

/* The past is forgotten after LAST_NS, or later: when there were so many operations, as many
 * programs make one in some seconds, but not after LONGEST_NS. And how often is looked. */
#define LAST_NS		 UINT64_C(10000000000)
#define OPERATIONS_LEAST 20u
#define LONGEST_NS	 (30 * LAST_NS)
#define LOOK_NS		 UINT64_C(500000000)

struct colop_live {
	struct colop colop;
	uint64_t since_ns, looked_ns, operations;
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
	struct colop_live *live = arg;
	struct colop *c = &live->colop;

	crossings_take(c->crossings, meeting);
	if (meeting->gap != MEETING_WHOLE)
		return;
	live->operations++;
	lateness_add(c->lateness, meeting);
}

struct colop_live *colop_live_new(struct evspace_client *client)
{
	struct colop_live *live = memory_new(1, sizeof(*live));
	struct colop *c = &live->colop;

	c->follow.client = client;
	c->attendance = attendance_new();
	c->meetings = meetings_new(ARRIVALS_MOST, take_meeting, live);
	c->arrivals = arrivals_new(c->attendance, c->meetings, ARRIVALS_MOST);
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
	crossings_free(c->crossings);
	lateness_free(c->lateness);
	attendance_free(c->attendance);
	free(live->text);
	free(live);
}

/* What is known of those that are late, of the last @ns, outlives their sums. */
static void keep(struct colop_live *live, const struct late_often *found, size_t n, uint64_t ns)
{
	char when[UNIT_TEXT + 16], last[UNIT_TEXT];
	size_t bytes;
	FILE *out;

	snprintf(when, sizeof(when), "the last %s", unit_duration(last, ns));
	free(live->text);
	out = open_memstream(&live->text, &bytes);
	if (!out)
		abort();
	for (size_t i = 0; i < n; i++)
		colop_say_often(&live->colop, &found[i], when, out);
	if (n > 0)
		colop_say_sites(&live->colop, out);
	if (fclose(out) == EOF)
		abort();
	live->late = n;
}

/* Is the past so long that it is to be forgotten? */
static bool is_over(const struct colop_live *live, uint64_t ns)
{
	return ns >= LAST_NS &&
	       (live->operations == 0 || live->operations >= OPERATIONS_LEAST || ns >= LONGEST_NS);
}

static void judge(struct colop_live *live, uint64_t now_ns)
{
	const uint64_t ns = now_ns - live->since_ns;
	const bool over = is_over(live, ns);
	struct colop *c = &live->colop;
	struct late_often found[LOOKED_AT];
	size_t n = 0, all;

	live->looked_ns = now_ns;
	all = lateness_often(c->lateness, LEAST, found, LOOKED_AT);
	for (size_t i = 0; i < all && n < MOST; i++) {
		if (found[i].member->times >= TIMES_LEAST)
			found[n++] = found[i];
	}
	/* after a new begin nothing can be told for a while */
	if (n > 0 || over)
		keep(live, found, n, ns);
	if (!over)
		return;
	lateness_free(c->lateness);
	c->lateness = lateness_new(CONFIDENCE, forget_once, c);
	live->since_ns = now_ns;
	live->operations = 0;
}

void colop_live_begin(struct colop_live *live, uint64_t begin_ns)
{
	live->since_ns = live->since_ns ? live->since_ns : begin_ns;
}

void colop_live_take(struct colop_live *live, uint64_t now_ns)
{
	struct colop *c = &live->colop;

	evspace_rewind(c->follow.client);
	attendance_turn(c->attendance);
	arrivals_take(c->arrivals, c->follow.client);
	colop_live_begin(live, now_ns);
	if (now_ns - live->looked_ns >= LOOK_NS)
		judge(live, now_ns);
}

void colop_live_end(struct colop_live *live, uint64_t now_ns)
{
	arrivals_end(live->colop.arrivals);
	judge(live, now_ns);
}

size_t colop_live_late(const struct colop_live *live)
{
	return live->late;
}

void colop_live_say(const struct colop_live *live, FILE *out)
{
	fputs(live->text ? live->text : "", out);
}
