/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what probes say of another clock: in simulated time, with clocks whose truth is known. */
#include "tree/data/clock-fit.h"

#include <math.h>
#include <stdlib.h>

#include "tests/random.h"
#include "tests/tap.h"

#define SECOND 1000000000

/** How long each pair of clocks runs. */
#define RUN_S 600

/** Another clock, and the way to it. */
struct world {
	const char *name;
	int64_t ahead_ns;
	double ppm;
	double slew_ppm, slew_s; /* from RUN_S / 3 on, so much more, for so long */
	int64_t step_ns;	 /* at 2 * RUN_S / 3 */
	uint64_t there, back;	 /* least delays */
	uint64_t jitter;	 /* most of what is added to them, mostly little */
	uint64_t first;		 /* added to the first answer */
	double most_us;		 /* the bound, but for the first ten seconds and after changes */
	uint32_t steps_least, steps_most;
	uint64_t seed;
};

static const uint64_t born = UINT64_C(5000) * SECOND;

static double true_ahead(const struct world *w, uint64_t ns)
{
	double t = (double)(ns - born), slewed = t - RUN_S / 3 * 1e9;

	slewed = fmin(fmax(slewed, 0), w->slew_s * 1e9);
	return t * w->ppm * 1e-6 + slewed * w->slew_ppm * 1e-6 +
	       (t >= 2 * RUN_S / 3 * 1e9 ? (double)w->step_ns : 0);
}

static uint64_t theirs(const struct world *w, uint64_t ns)
{
	return ns + (uint64_t)w->ahead_ns + (uint64_t)(int64_t)true_ahead(w, ns);
}

static uint64_t delay(struct world *w, uint64_t least)
{
	double share = (double)random_below(&w->seed, 1000) / 1000;

	return least + (uint64_t)(pow(share, 4) * (double)w->jitter);
}

static struct clock_probe probe_make(struct world *w, uint64_t now, uint64_t more)
{
	uint64_t got = now + delay(w, w->there), sent = got + 2000;

	return (struct clock_probe){now, theirs(w, got), theirs(w, sent),
				    sent + delay(w, w->back) + more};
}

static bool within(const struct world *w, const struct clock_offset *o, uint64_t ns)
{
	int64_t said = clock_offset_ahead_ns(o, ns) - w->ahead_ns;

	return fabs((double)said - true_ahead(w, ns)) <= clock_offset_error_ns(o, ns);
}

struct tally {
	unsigned samples, right;
	unsigned small; /* bounds of at most most_us */
};

/* As agents do: some probes in a row at first and after a step, then one each second; asked for
 * times from now to the next probe. */
static void world_run(struct world w, struct clock_fit *fit, struct tally *now, struct tally *past)
{
	unsigned row = 8;

	for (uint64_t t = born; t < born + (uint64_t)RUN_S * SECOND;) {
		struct clock_probe p = probe_make(&w, t, fit->probes ? 0 : w.first);
		uint64_t next;

		if (clock_fit_take(fit, &p))
			row = 8;
		next = p.came_ns + (row > 0 ? row--, SECOND / 500 : SECOND);
		for (uint64_t at = p.came_ns; at < next; at += SECOND / 10) {
			uint64_t ago = random_below(&w.seed, (uint64_t)20 * SECOND);

			now->samples++;
			now->right += within(&w, &fit->offset, at);
			now->small += clock_offset_error_ns(&fit->offset, at) <= w.most_us * 1000;
			if (at - born < ago)
				continue;
			past->samples++;
			past->right += within(&w, &fit->offset, at - ago);
		}
		t = next;
	}
}

static const struct world worlds[] = {
	{.name = "loopback",
	 .ahead_ns = INT64_C(3) * SECOND,
	 .there = 12000,
	 .back = 14000,
	 .jitter = 200000,
	 .most_us = 30},
	{.name = "a fast clock",
	 .ahead_ns = INT64_C(-7) * SECOND,
	 .ppm = 200,
	 .there = 12000,
	 .back = 14000,
	 .jitter = 200000,
	 .most_us = 30},
	{.name = "a slow clock",
	 .ahead_ns = INT64_C(1) << 60,
	 .ppm = -200,
	 .there = 30000,
	 .back = 20000,
	 .jitter = 1000000,
	 .most_us = 60},
	{.name = "a way back that is slow",
	 .ppm = 40,
	 .there = 100000,
	 .back = 5000000,
	 .jitter = 20000000,
	 .first = UINT64_C(3) * SECOND,
	 .most_us = 4500},
	{.name = "a slew by adjtime",
	 .ppm = -30,
	 .slew_ppm = 500,
	 .slew_s = 2,
	 .there = 12000,
	 .back = 14000,
	 .jitter = 100000,
	 .most_us = 30,
	 .steps_least = 1,
	 .steps_most = 6},
	{.name = "a long slew that is slow",
	 .ppm = 10,
	 .slew_ppm = 20,
	 .slew_s = 60,
	 .there = 40000,
	 .back = 40000,
	 .jitter = 200000,
	 .most_us = 60,
	 .steps_most = 2},
	{.name = "a step and a late first answer",
	 .ahead_ns = SECOND,
	 .ppm = 100,
	 .step_ns = INT64_C(-2) * SECOND,
	 .there = 12000,
	 .back = 14000,
	 .jitter = 100000,
	 .first = UINT64_C(3) * SECOND,
	 .most_us = 30,
	 .steps_least = 1,
	 .steps_most = 1},
	{.name = "all at once",
	 .ahead_ns = INT64_C(3) * SECOND,
	 .ppm = 200,
	 .slew_ppm = -500,
	 .slew_s = 10,
	 .step_ns = SECOND / 1000,
	 .there = 200000,
	 .back = 20000,
	 .jitter = 3000000,
	 .first = SECOND / 2,
	 .most_us = 300,
	 .steps_least = 2,
	 .steps_most = 6},
};

static void world_check(const struct world *w)
{
	struct clock_fit fit = {.probes = 0};
	struct tally now = {0}, past = {0};

	world_run(*w, &fit, &now, &past);
	if (w->seed == 0)
		tap_note("%s: %u of %u within, of the past %u of %u; %u steps; drift %.2f +- %.2f "
			 "ppm, offset +- %.1f us",
			 w->name, now.right, now.samples, past.right, past.samples, fit.steps,
			 fit.offset.drift * 1e6, fit.offset.error_drift * 1e6,
			 fit.offset.error_ns / 1000);
	CU_ASSERT_TRUE(now.right * 100 >= now.samples * 99);
	CU_ASSERT_TRUE(now.small * 100 >= now.samples * 90);
	CU_ASSERT_TRUE(fit.apart);
	CU_ASSERT_TRUE(fit.steps >= w->steps_least);
	CU_ASSERT_TRUE(fit.steps <= w->steps_most);
	CU_ASSERT_TRUE(fabs(fit.offset.drift * 1e6 - w->ppm) <= fit.offset.error_drift * 1e6);
	if (w->step_ns == 0 && w->slew_s == 0)
		CU_ASSERT_EQUAL(past.right, past.samples);
}

static void simulated(void)
{
	for (unsigned i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		struct world w = worlds[i];

		for (w.seed = 0; w.seed < 20; w.seed++)
			world_check(&w);
	}
}

static void first_probe(void)
{
	struct clock_fit fit = {.probes = 0};

	CU_ASSERT_TRUE(clock_fit_take(&fit, &(struct clock_probe){1000, 501100, 501200, 1300}));
	CU_ASSERT_EQUAL(fit.offset.at_ns, 1300);
	CU_ASSERT_DOUBLE_EQUAL((double)fit.offset.ahead_ns, 500000, 2);
	CU_ASSERT_DOUBLE_EQUAL(fit.offset.error_ns, 100, 3);
	CU_ASSERT_DOUBLE_EQUAL(clock_offset_error_ns(&fit.offset, 1300 + SECOND), 1101100, 10);
	CU_ASSERT_EQUAL(fit.steps, 0);
}

/* Two agents of a host. */
static void one_clock(void)
{
	struct clock_fit fit = {.probes = 0};
	uint64_t seed = 3;

	for (uint64_t at = born; at < born + UINT64_C(100) * SECOND; at += SECOND) {
		uint64_t got = at + random_below(&seed, 20000), sent = got + 1000;

		clock_fit_take(&fit, &(struct clock_probe){at, got, sent,
							   sent + random_below(&seed, 20000)});
		CU_ASSERT_FALSE(fit.apart);
		CU_ASSERT_TRUE(fabs((double)fit.offset.ahead_ns) <= fit.offset.error_ns);
	}
	CU_ASSERT_EQUAL(fit.steps, 0);
}

/* Whatever a peer says, numbers come of it. */
static void lies(void)
{
	struct clock_fit fit = {.probes = 0};
	struct clock_line line = CLOCK_LINE_NS;
	uint64_t seed = 4, taken = 0;

	CU_ASSERT_FALSE(clock_fit_take(&fit, &(struct clock_probe){100, 50, 49, 200}));
	CU_ASSERT_FALSE(clock_fit_take(&fit, &(struct clock_probe){100, 50, 151, 200}));
	CU_ASSERT_EQUAL(fit.probes, 0);
	for (uint64_t at = born; at < born + UINT64_C(1000) * SECOND; at += SECOND) {
		static const uint64_t odd[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1,
					       UINT64_MAX};
		uint64_t got = random_below(&seed, 2) ? odd[random_below(&seed, 5)]
						      : random_below(&seed, UINT64_MAX);

		clock_fit_take(&fit, &(struct clock_probe){at, got, got + random_below(&seed, 50),
							   at + random_below(&seed, SECOND)});
		CU_ASSERT_TRUE(fit.probes - taken <= 1);
		taken = fit.probes;
		CU_ASSERT_TRUE(isfinite(clock_offset_error_ns(&fit.offset, at)));
		CU_ASSERT_TRUE(fabs(fit.offset.drift) <= CLOCK_DRIFT_MOST);
		clock_offset_ahead_ns(&fit.offset, 0);
		clock_offset_move(&fit.offset, &line, INT64_MIN / 2, INT64_MAX / 2);
		CU_ASSERT_TRUE(llabs(line.base_ns) <= CLOCK_BASE_MOST);
		CU_ASSERT_TRUE(isfinite(line.error_ns));
	}
	CU_ASSERT_TRUE(fit.steps > 0);
}

/* A line of their ticks says when it was by our clock, whatever its base. */
static void moved(const struct clock_offset *o, struct clock_line line, uint64_t base)
{
	const int64_t theirs_ns = INT64_C(1700000000) * SECOND, ours_ns = theirs_ns + 12345;
	const double per_tick = line.ns_per_tick;

	line.base_ns += theirs_ns + (int64_t)base;
	clock_offset_move(o, &line, theirs_ns, ours_ns);
	for (int64_t ago = -SECOND; ago <= INT64_C(100) * SECOND; ago += SECOND / 4) {
		uint64_t ns = o->at_ns - (uint64_t)ago;
		uint64_t theirs_then = ns + (uint64_t)clock_offset_ahead_ns(o, ns);
		double ticks = (double)(int64_t)(theirs_then - base) / per_tick;
		int64_t said = clock_line_ns(&line, line.base_ticks + (uint64_t)(int64_t)ticks);

		CU_ASSERT_TRUE(llabs(said - ours_ns - (int64_t)ns) <= 3);
	}
}

static void lines_moved(void)
{
	const struct clock_offset o = {born, INT64_C(-3) * SECOND, 200e-6, 1000, 2e-6};
	const uint64_t now = born - UINT64_C(3) * SECOND;
	const int64_t epoch = INT64_C(1700000000) * SECOND;
	struct clock_line ns = CLOCK_LINE_NS;

	moved(&o, (struct clock_line){.base_ticks = 77, .ns_per_tick = 0.4}, now);
	moved(&o, (struct clock_line){.base_ticks = 77, .ns_per_tick = 1}, now - SECOND);
	clock_offset_move(&o, &ns, epoch, epoch);
	CU_ASSERT_EQUAL(clock_line_ns(&ns, (uint64_t)epoch + now), epoch + (int64_t)born);
	CU_ASSERT_TRUE(llabs(clock_line_ns(&ns, (uint64_t)epoch + now - UINT64_C(10) * SECOND) -
			     epoch - (int64_t)(born - UINT64_C(10) * SECOND) - 2000000) <= 500);
	/* 1 us, and not less than what the drift adds in 5 s */
	CU_ASSERT_DOUBLE_EQUAL(ns.error_ns, 10000, 1);
	CU_ASSERT_DOUBLE_EQUAL(clock_error_ns(ns.error_ns, -10e9), 30000, 1);
}

/* One clock: nothing changes. */
static void lines_kept(void)
{
	const struct clock_offset same = {.at_ns = 0};
	struct clock_line line = {12345, 77, 0.4, 50}, was = line;

	clock_offset_move(&same, &line, 1000, 1000);
	CU_ASSERT_TRUE(clock_line_same(&line, &was));
	CU_ASSERT_EQUAL(line.error_ns, 50);
}

static CU_TestInfo clock_fit_cases[] = {
	{"the first probe gives the offset, and no drift", first_probe},
	{"clocks that step, are slewed, or drift are within the bound", simulated},
	{"one clock is not told from itself", one_clock},
	{"any times are digested", lies},
	{"lines of another clock say our time", lines_moved},
	{"lines of our clock stay what they are", lines_kept},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "clock_fit", .pTests = clock_fit_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
