/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is told of executions that change, or do not, where it is known when and how. */
#include "consumers/phase/watching.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

#include "consumers/analysis/student.h"
#include "consumers/phase/doubt.h"
#include "consumers/phase/occupancy.h"
#include "consumers/phase/usual.h"

#define PROCESSES 6u
#define SPAN	  100.0
#define SPANS	  60u

/* ---- what is told ---- */

struct told {
	struct watching_change changes[64];
	unsigned n;
};

static void tell(void *arg, const struct watching_change *change)
{
	struct told *told = arg;

	CU_ASSERT_FATAL(told->n < sizeof(told->changes) / sizeof(told->changes[0]));
	told->changes[told->n++] = *change;
}

static unsigned told_of(const struct told *told, enum change_of of)
{
	unsigned n = 0;

	for (unsigned i = 0; i < told->n; i++)
		n += told->changes[i].of == of;
	return n;
}

static const struct watching_change *first_of(const struct told *told, enum change_of of)
{
	for (unsigned i = 0; i < told->n; i++)
		if (told->changes[i].of == of)
			return &told->changes[i];
	return NULL;
}

/* The change is told from the span in which it is, or the next one. */
static bool is_from(const struct watching_change *c, double time)
{
	return c && c->at > time - SPAN && c->at <= time + SPAN;
}

/* ---- a program ---- */

/* Where it changes; 0: never. */
struct plan {
	double repeats, route, gathers;
	const bool *subset;
};

/* All processes go by the blocks 1, 2, 3, 4, 6 over and over, or by 5 in the place of 3. */
static uint32_t block_next(uint32_t block, bool other_way)
{
	static const uint32_t one[] = {1, 2, 3, 4, 6, 4, 1}, other[] = {1, 2, 5, 4, 6, 4, 1};

	return other_way ? other[block] : one[block];
}

static void run(uint64_t seed, const struct plan *plan, struct told *told)
{
	const struct watching_shape shape = {.processes = PROCESSES,
					     .span = SPAN,
					     .subset = plan->subset,
					     .tell = tell,
					     .arg = told};
	struct watching *w = watching_new(&shape);
	uint32_t block[PROCESSES] = {0};

	memset(told, 0, sizeof(*told));
	for (double time = 1; time < SPAN * SPANS; time += 0.1) {
		unsigned p = (unsigned)random_below(&seed, PROCESSES);
		bool repeats = plan->repeats > 0 && time >= plan->repeats && p == 2;
		bool stays = plan->gathers > 0 && time >= plan->gathers && block[p] == 4;

		if (stays && random_below(&seed, 20))
			continue;
		if (repeats)
			block[p] = block[p] == 1 ? 2 : 1;
		else
			block[p] = block_next(block[p],
					      plan->route > 0 && time >= plan->route && p % 2);
		watching_add(w, time, 0, p, block[p]);
	}
	CU_ASSERT(watching_end(w).spans == SPANS - 1 && watching_end(w).left_out == 0);
	watching_free(w);
}

static void nothing_changes(void)
{
	static const bool subset[PROCESSES] = {[1] = true, [2] = true, [3] = true};
	const struct plan plan = {.subset = subset};
	struct told told;
	unsigned n = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		run(seed, &plan, &told);
		n += told.n;
	}
	/* 20 runs of 60 spans with some 14 figures each */
	CU_ASSERT(n == 0);
}

static void who_repeats_itself(void)
{
	static const bool with[PROCESSES] = {[1] = true, [2] = true, [3] = true};
	static const bool without[PROCESSES] = {[3] = true, [4] = true, [5] = true};
	struct plan plan = {.repeats = 30.5 * SPAN, .subset = with};
	const struct watching_change *c;
	struct told told;

	run(7, &plan, &told);
	c = first_of(&told, CHANGE_PROCESS);
	CU_ASSERT(told_of(&told, CHANGE_PROCESS) == 1 && is_from(c, plan.repeats));
	CU_ASSERT(c && c->process == 2 && c->now < 1.1 && c->before > 2.2 && c->unlikely < 0.01);
	CU_ASSERT(c && c->block[0].block + c->block[1].block == 3);
	c = first_of(&told, CHANGE_SUBSET);
	CU_ASSERT(told_of(&told, CHANGE_SUBSET) == 1 && is_from(c, plan.repeats));
	CU_ASSERT(c && c->now < c->before);
	plan.subset = without;
	run(7, &plan, &told);
	CU_ASSERT(told_of(&told, CHANGE_SUBSET) == 0 && told_of(&told, CHANGE_PROCESS) == 1);
}

static void two_routes(void)
{
	const struct plan plan = {.route = 20.5 * SPAN};
	const struct watching_change *c;
	struct told told;

	run(11, &plan, &told);
	c = first_of(&told, CHANGE_ROUTE);
	CU_ASSERT(told_of(&told, CHANGE_ROUTE) == 1 && is_from(c, plan.route));
	CU_ASSERT_FATAL(c != NULL);
	CU_ASSERT(c->route.begins && c->route.from == 2 && c->route.to + c->route.other == 8);
	CU_ASSERT(c->route.share > 0.3 && c->route.share < 0.7);
	CU_ASSERT(c->route.has_meets && c->route.meets == 4);
	CU_ASSERT(told_of(&told, CHANGE_PROCESS) == 0);
}

static void where_all_gather(void)
{
	const struct plan plan = {.gathers = 40.5 * SPAN};
	const struct watching_change *c;
	struct told told;

	run(13, &plan, &told);
	c = first_of(&told, CHANGE_CLUMP);
	CU_ASSERT(told_of(&told, CHANGE_CLUMP) == 1 && is_from(c, plan.gathers));
	CU_ASSERT(c && c->block[0].block == 4 && c->now > 0.5 && c->before < 0.1);
	CU_ASSERT(told_of(&told, CHANGE_TIME) == 1);
}

/* Most are in block 1 from the beginning on: told once, as a fact of the beginning. */
static void gathered_from_the_beginning(void)
{
	struct told told = {.n = 0};
	const struct watching_shape shape = {
		.processes = 3, .begin = 50, .span = 10, .tell = tell, .arg = &told};
	struct watching *w = watching_new(&shape);

	for (unsigned i = 0; i < 200; i++) {
		unsigned p = i % 3;

		watching_add(w, 50 + i, 0, p, p == 0 ? 2 + i / 3 % 2 : 1);
	}
	CU_ASSERT(told_of(&told, CHANGE_CLUMP) == 1);
	CU_ASSERT(told.n > 0 && isnan(told.changes[0].before) && told.changes[0].at == 50);
	watching_free(w);
}

/* A gap of very many spans takes no longer than one of few. */
static void long_silence(void)
{
	struct told told = {.n = 0};
	const struct watching_shape shape = {
		.processes = 2, .span = 1e-6, .tell = tell, .arg = &told};
	struct watching *w = watching_new(&shape);

	for (unsigned i = 0; i < 1000; i++)
		watching_add(w, i * 1e6, 0, i % 2, i % 5);
	watching_add(w, 1e15, 0, 1, UINT32_MAX);
	CU_ASSERT(watching_end(w).entries == 1001);
	watching_free(w);
}

/* Three processes, of which each changes once in a span of 10; the first two are a subset. */
static void what_bounds_come_to(void)
{
	static const bool subset[3] = {true, true, false};
	struct told told = {.n = 0};
	const struct watching_shape shape = {
		.processes = 3, .span = 10, .subset = subset, .tell = tell, .arg = &told};
	struct watching *w = watching_new(&shape);
	struct watched all;

	for (unsigned i = 0; i < 10; i++) {
		watching_add(w, 10 * i + 4, 0.3, 0, i % 2 + 1);
		watching_add(w, 10 * i + 4.5, 0.3, 1, i % 2 + 1);
		watching_add(w, 10 * i + 9.7, 0.4, 2, 1);
	}
	all = watching_end(w);
	CU_ASSERT(all.spans == 9 && all.borders == 10);
	CU_ASSERT(fabs(all.off.share - 0.1) < 1e-9);
	/* one of three goes elsewhere, among four blocks */
	CU_ASSERT(fabs(all.off.time -
		       0.1 * (log2(3) / 3 - log2(1 / 3.0) / 3 - 2 * log2(2 / 3.0) / 3)) < 1e-9);
	/* of two states one is another */
	CU_ASSERT(fabs(all.off.subset - 1) < 1e-9);
	watching_free(w);
}

/* Clocks are not known alike: of process 1 to 40, of process 0 well. What it does at 100 may be
 * before the last three of that, whose states are then other ones, but not before the first. */
static void one_clock_is_worse(void)
{
	struct doubt_span s = {.n = 0};

	doubt_begin(&s.doubt);
	doubt_span_add(&s, 10, 0.1, 0);
	doubt_span_add(&s, 70, 0.1, 0);
	doubt_span_add(&s, 80, 0.1, 0);
	doubt_span_add(&s, 90, 0.1, 0);
	CU_ASSERT(doubt_span_unknown(&s) == 0);
	doubt_span_add(&s, 100, 40, 1);
	CU_ASSERT(doubt_span_unknown(&s) == 3);
	/* it may be as late as 140, so those until then are in doubt, too */
	doubt_span_add(&s, 120, 0.1, 0);
	doubt_span_add(&s, 150, 0.1, 0);
	CU_ASSERT(doubt_span_all(&s) == 7 && doubt_span_unknown(&s) == 4);
	doubt_span_next(&s);
	/* of the span before */
	doubt_span_add(&s, 160, 40, 1);
	CU_ASSERT(doubt_span_all(&s) == 1 && doubt_span_unknown(&s) == 1);
	doubt_span_fini(&s);
}

/* ---- its parts ---- */

static void two_spans_in_a_row(void)
{
	static const struct usual_bounds bounds = {0.2, 0.2, 0.01};
	struct usual_change c;
	struct usual u = {0};

	for (unsigned i = 0; i < 50; i++) {
		/* each ninth one is far off, and tells nothing */
		double value = i % 9 == 8 ? 9 : 2 + 0.01 * (i % 3);

		CU_ASSERT(usual_next(&u, value, &bounds, &c) == 0);
	}
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT(usual_next(&u, 2, &bounds, &c) == 0);
	CU_ASSERT(usual_next(&u, 1, &bounds, &c) == 0);
	CU_ASSERT(usual_next(&u, 1.1, &bounds, &c) == -1);
	CU_ASSERT(fabs(c.now - 1.05) < 1e-12 && fabs(c.before - 2) < 0.02);
	/* what is usual is not widened by one span alone */
	CU_ASSERT(usual_next(&u, 1, &bounds, &c) == 0 && usual_next(&u, 1, &bounds, &c) == 0);
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT(usual_next(&u, i == 17 ? 0 : 1, &bounds, &c) == 0);
	CU_ASSERT(usual_next(&u, 1.6, &bounds, &c) == 0);
	CU_ASSERT(usual_next(&u, 1.6, &bounds, &c) == 1);
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT(usual_next(&u, 1.6, &bounds, &c) == 0);
	CU_ASSERT(usual_next(&u, 1, &bounds, &c) == 0 && usual_next(&u, 1, &bounds, &c) == -1);
	/* it is learned anew */
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT(usual_next(&u, 1, &bounds, &c) == 0);
	/* what is unlikely, but little, is nothing */
	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT(usual_next(&u, 1.15, &bounds, &c) == 0);
}

/* Student's t of tables: beyond 2.776 with 4 degrees of freedom, 3.365 with 5 on one side. */
static void student(void)
{
	const double values[] = {1, 2, 3, 4, 5};
	double squares = 0, t;

	CU_ASSERT(fabs(student_beyond(2.776, 4) - 0.05) < 1e-4);
	CU_ASSERT(fabs(student_beyond(3.365, 5) - 0.02) < 1e-4);
	CU_ASSERT(fabs(student_beyond(12.706, 1) - 0.05) < 1e-4);
	for (unsigned i = 0; i < 5; i++)
		squares += (values[i] - 3) * (values[i] - 3);
	t = 4 / (sqrt(2.5) * sqrt(1.2));
	CU_ASSERT(fabs(student_unlike(7, 3, squares, 5) - student_beyond(t, 4)) < 1e-12);
	CU_ASSERT(student_unlike(3, 3, 0, 5) == 1 && student_unlike(4, 3, 0, 5) < 1e-12);
}

static int is_counted(const struct occurrences *o, uint64_t what, uint64_t count)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->items[i].what == what)
			return o->items[i].count == count;
	return count == 0;
}

static void things_are_counted(void)
{
	static uint64_t counts[5000];
	struct occurrences o = {0};
	uint64_t seed = 3;
	int wrong = 0;

	for (unsigned i = 0; i < 200000; i++) {
		uint64_t what = random_below(&seed, 5000);

		counts[what]++;
		occurrences_add(&o, what << 32);
	}
	occurrences_merge(&o);
	CU_ASSERT(o.room <= 16384);
	for (uint64_t i = 0; i < 5000; i++)
		wrong += !is_counted(&o, i << 32, counts[i]);
	CU_ASSERT(wrong == 0);
	occurrences_clear(&o);
	for (uint64_t i = 0; i < 5 * (uint64_t)OCCURRENCES_MOST; i++)
		occurrences_add(&o, i);
	CU_ASSERT(o.left_out > 0 && o.left_out + o.n == 5 * (uint64_t)OCCURRENCES_MOST);
	CU_ASSERT(o.room <= 2 * (size_t)OCCURRENCES_MOST);
	occurrences_fini(&o);
}

/* ---- who is elsewhere ---- */

/* Each is in block 1 for some 60 of 100, and in 2 for the rest; but process @slow has it the other
 * way round. */
static unsigned elsewhere(unsigned slow, struct occupancy_unlike found[8])
{
	uint32_t block[8] = {0};
	struct occupancy o;
	uint64_t seed = 5;
	unsigned n;

	occupancy_init(&o, 8, 3);
	for (unsigned step = 0; step < 50; step++) {
		double at = 100 * step;

		for (unsigned p = 0; p < 8; p++) {
			occupancy_at(&o, at);
			occupancy_leave(&o, p, block[p]);
			block[p] = 1;
		}
		/* in order of time, as entries are */
		for (unsigned tick = 1; tick < 100; tick++)
			for (unsigned p = 0; p < 8; p++) {
				unsigned when = p == slow ? 10 : 90;

				occupancy_at(&o, at + tick);
				if (block[p] == 2 || (tick < when && random_below(&seed, 60)))
					continue;
				occupancy_leave(&o, p, block[p]);
				block[p] = 2;
			}
	}
	occupancy_at(&o, 5000);
	occupancy_run(&o, block);
	n = occupancy_find(&o, 0.01, found);
	occupancy_fini(&o);
	return n;
}

static void the_slow_one(void)
{
	struct occupancy_unlike found[8];

	CU_ASSERT(elsewhere(8, found) == 0);
	CU_ASSERT_FATAL(elsewhere(5, found) == 1);
	CU_ASSERT(found[0].process == 5 && found[0].block > 0 && found[0].unlikely < 0.01);
	CU_ASSERT(fabs(found[0].share - found[0].others) > 0.2);
}

/* Shares by hand: of 100, process 3 is in block 1 three times, for 20, 30 and 20, and in block 0
 * between, each time for 10; the others in block 1 for 10, 10 and 10, and in block 0 for 20, 20 and
 * 30. The longest stays do not count. */
static void shares_by_hand(void)
{
	static const struct {
		double at;
		bool three; /* all others, or this one */
		uint32_t from;
	} goes[] = {{10, true, 0},  {20, false, 0}, {30, true, 1}, {30, false, 1}, {40, true, 0},
		    {50, false, 0}, {60, false, 1}, {70, true, 1}, {80, true, 0},  {90, false, 0}};
	const uint32_t block[4] = {1, 1, 1, 1};
	struct occupancy_unlike found[4];
	struct occupancy o;

	occupancy_init(&o, 4, 2);
	for (size_t i = 0; i < sizeof(goes) / sizeof(goes[0]); i++) {
		occupancy_at(&o, goes[i].at);
		for (unsigned p = goes[i].three ? 3 : 0; p < (goes[i].three ? 4 : 3); p++)
			occupancy_leave(&o, p, goes[i].from);
	}
	occupancy_at(&o, 100);
	occupancy_run(&o, block);
	CU_ASSERT_FATAL(occupancy_find(&o, 0.01, found) == 1);
	CU_ASSERT(found[0].process == 3);
	CU_ASSERT(fabs(found[0].share - (found[0].block ? 0.4 : 0.2)) < 1e-12);
	CU_ASSERT(fabs(found[0].others - (found[0].block ? 0.2 : 0.4)) < 1e-12);
	occupancy_fini(&o);
	occupancy_init(&o, 10240, 1000000);
	CU_ASSERT(!o.spent && occupancy_find(&o, 0.01, found) == 0);
	occupancy_leave(&o, 9, 1);
	occupancy_fini(&o);
}

static CU_TestInfo cases[] = {
	{"an execution that does not change", nothing_changes},
	{"a process that repeats itself", who_repeats_itself},
	{"two routes from a block", two_routes},
	{"a block in which most gather", where_all_gather},
	{"one in which they are from the beginning on", gathered_from_the_beginning},
	{"silence of many spans", long_silence},
	{"what times that are known to bounds come to", what_bounds_come_to},
	{"... where one clock is known less than others", one_clock_is_worse},
	{"a figure that is another one for two spans", two_spans_in_a_row},
	{"Student's t", student},
	{"things that are counted", things_are_counted},
	{"a process that is elsewhere", the_slow_one},
	{"time in blocks, by hand", shares_by_hand},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "watching", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
