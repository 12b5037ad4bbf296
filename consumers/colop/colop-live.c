/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges who is late by the last seconds alone, so that it can be over. */
#include "consumers/colop/colop-live.h"

#include <stdlib.h>

#include "consumers/cli/words.h"
#include "consumers/colop/colop.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op.h"

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
	bool ends;	 /* what is open now stays so */
	int64_t open_ns; /* the first of these begins, and what is to be said of it; NULL: none */
	char *open;
};

static void forget_once(void *arg, const struct late_once *late)
{
	(void)arg;
	(void)late;
}

/* ---- what stays open ---- */

static int compare_ranks(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool is_known(const struct attendance *a, int32_t rank)
{
	for (uint32_t i = 0; i < attendance_processes(a); i++) {
		if (attendance_rank(a, i) == rank)
			return true;
	}
	return false;
}

static bool has_come(const struct attendance *a, const struct meeting *m, int32_t rank)
{
	for (size_t i = 0; i < m->n; i++) {
		if (attendance_rank(a, m->arrivals[i].process) == rank)
			return true;
	}
	return false;
}

/* Get the ranks that are not in it, ascending. Returns how many; 0: nothing is known of one, whose
 * events may be elsewhere. */
static size_t find_absent(const struct colop *c, const struct meeting *m, int32_t *ranks, size_t n)
{
	size_t absent = 0;

	for (size_t i = 0; i < n; i++) {
		if (ranks[i] < 0)
			return 0;
		if (has_come(c->attendance, m, ranks[i]))
			continue;
		if (!is_known(c->attendance, ranks[i]))
			return 0;
		ranks[absent++] = ranks[i];
	}
	qsort(ranks, absent, sizeof(*ranks), compare_ranks);
	return absent;
}

/* "at the end 3 of 4 ranks had called MPI_Bcast@world #24; of rank 2 …" */
static void note_open(struct colop_live *live, const struct meeting *m)
{
	const struct colop *c = &live->colop;
	size_t n = evspace_members(c->follow.client, m->key.comm, NULL, 0), absent;
	int32_t *ranks = memory_new(n + 1, sizeof(*ranks));
	char text[WORDS_TEXT] = "", key[96];

	n = evspace_members(c->follow.client, m->key.comm, ranks, n);
	absent = find_absent(c, m, ranks, n);
	if (absent > 0) {
		words_class(key, sizeof(key), c->follow.client, op_name(m->op), m->key.comm);
		words_add(text, "at the end %zu of %zu ranks had called %s #%u; of ", m->n, n, key,
			  m->key.number);
		words_add_ranks(text, ranks, absent);
		words_add(text, " there is no such call, or none that has ended");
		free(live->open);
		live->open = memory_copy(text);
		live->open_ns = m->arrivals[0].start_ns;
	}
	free(ranks);
}

const char *colop_live_open(const struct colop_live *live)
{
	return live->open;
}

/* ---- what comes ---- */

static void take_meeting(void *arg, const struct meeting *meeting)
{
	struct colop_live *live = arg;
	struct colop *c = &live->colop;

	if (live->ends && meeting->gap == MEETING_ABSENT && !op_is_pvm(meeting->op) &&
	    (!live->open || meeting->arrivals[0].start_ns < live->open_ns))
		note_open(live, meeting);
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
	free(live->open);
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
	live->ends = true;
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
