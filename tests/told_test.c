/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a program is told: whole or not at all, whatever is on the page. */
#include "node-agent/collect/core/member.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "node-agent/segment/segment-told.h"
#include "tests/collector-bed.h"
#include "tests/random.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

static struct segment_told *page(void)
{
	return segment_told_own(collect.segment);
}

static void start(void)
{
	collector_bed_start(2);
	/* as after a start by member_start() */
	collect.segment->said = *collect.segment->header;
	told_begin();
}

static struct segment_told_budget budget_of(double share)
{
	return (struct segment_told_budget){
		.mono_ns = clock_mono_ns(),
		.for_ns = UINT64_C(60000000000),
		.budget = share,
		.slowdown = share,
		.low = share,
		.high = share,
		.rate_hz = share,
	};
}

static void nobody(void)
{
	struct evspace_budget budget;
	struct evspace_figures figures;

	start();
	CU_ASSERT_EQUAL(atomic_load(&collect.segment->header->asks), 0);
	CU_ASSERT_EQUAL(evspace_told_1.budget(&budget), 0);
	CU_ASSERT_EQUAL(evspace_told_1.latest(NULL, 0, &figures), 0);
	CU_ASSERT_EQUAL(atomic_load(&collect.segment->header->asks), 1);
	/* as in a forked child */
	collect_abandon();
	CU_ASSERT_EQUAL(evspace_told_1.budget(&budget), 0);
	CU_ASSERT_EQUAL(evspace_told_1.latest(NULL, 0, &figures), 0);
}

static void budget_is_told(void)
{
	struct segment_told_budget said = budget_of(0.01);
	struct evspace_budget told;

	start();
	said.high = INFINITY;
	said.low = -NAN;
	segment_told_put_budget(page(), &said);
	CU_ASSERT_EQUAL(evspace_told_1.budget(&told), 1);
	CU_ASSERT_TRUE(told.budget == 0.01 && told.slowdown == 0.01 && told.age_s < 60);
	CU_ASSERT_TRUE(isnan(told.low) && isnan(told.high));
	CU_ASSERT_EQUAL(told.n_modes, CHANNEL_PROGRAMS);
	CU_ASSERT_STRING_EQUAL(told.modes[CHANNEL_P2P].name, "p2p");
	CU_ASSERT_STRING_EQUAL(told.modes[CHANNEL_P2P].mode, "trace");
	((_Atomic uint8_t *)(uintptr_t)collect.mode)[CHANNEL_P2P] = MODE_ONE_IN + 3;
	CU_ASSERT_EQUAL(evspace_told_1.budget(&told), 1);
	CU_ASSERT_STRING_EQUAL(told.modes[CHANNEL_P2P].mode, "1/8");
	said.mono_ns += said.for_ns;
	segment_told_put_budget(page(), &said);
	CU_ASSERT_EQUAL(evspace_told_1.budget(&told), 0);
	said.mono_ns -= 3 * said.for_ns;
	segment_told_put_budget(page(), &said);
	CU_ASSERT_EQUAL(evspace_told_1.budget(&told), 0);
	collect_stop();
}

static struct segment_told_view view_of(const char *name, uint64_t at_ns)
{
	struct segment_told_view view = {.mono_ns = at_ns, .wave = at_ns};

	snprintf(view.view, sizeof(view.view), "%s", name);
	view.ops[0] = (struct segment_told_op){OP_MPI_SEND, 4, 80, 4000, 2000};
	return view;
}

/* The newest ones have places, and one has the same as before. */
static void views_are_told(void)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "c"};
	struct evspace_figures told;

	start();
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct segment_told_view view = view_of(names[i], 100 + i);

		segment_told_put_view(page(), &view);
	}
	CU_ASSERT_EQUAL(evspace_told_1.latest("a", 1, &told), 0);
	CU_ASSERT_EQUAL(evspace_told_1.latest("b", 1, &told), 1);
	CU_ASSERT_TRUE(isnan(told.over_s));
	CU_ASSERT_EQUAL(evspace_told_1.latest("bc", 1, &told), 1);
	CU_ASSERT_EQUAL(told.wave, 101);
	CU_ASSERT_EQUAL(evspace_told_1.latest(NULL, 0, &told), 1);
	CU_ASSERT_EQUAL(told.wave, 105);
	CU_ASSERT_EQUAL_FATAL(told.n, 1);
	CU_ASSERT_STRING_EQUAL(told.operations[0].name, "MPI_Send");
	CU_ASSERT_EQUAL(told.operations[0].bytes, 80);
	CU_ASSERT_DOUBLE_EQUAL(told.operations[0].mean_s, 1e-6, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(told.operations[0].most_s, 2e-6, 1e-15);
	collect_stop();
}

/* What was written in the future is not there, and gives its place to others. */
static void none_of_the_future(void)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct segment_told_view view;
	struct evspace_figures told;

	start();
	view = view_of("z", clock_mono_ns() + 3600000000000);
	segment_told_put_view(page(), &view);
	for (unsigned i = 1; i < SEGMENT_TOLD_VIEWS; i++)
		memcpy(page()->views[i], page()->views[0], sizeof(page()->views[0]));
	CU_ASSERT_EQUAL(evspace_told_1.latest(NULL, 0, &told), 0);
	for (unsigned i = 0; i < SEGMENT_TOLD_VIEWS; i++) {
		view = view_of(names[i], 100 + i);
		view.over_ns = 2000000000;
		segment_told_put_view(page(), &view);
		CU_ASSERT_EQUAL(evspace_told_1.latest(names[i], 1, &told), 1);
		CU_ASSERT_EQUAL(told.over_s, 2);
	}
	collect_stop();
}

/* Garbage is none; garbage with the right sum is harmless. */
static void garbage(void)
{
	static struct segment_told_view view;
	static struct evspace_figures figures;
	struct segment_told_budget said;
	struct evspace_budget budget;
	unsigned char *bytes;
	uint64_t seed = 1;

	start();
	bytes = (unsigned char *)page();
	for (unsigned round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(struct segment_told); i++)
			bytes[i] = (unsigned char)random_below(&seed, 256);
		CU_ASSERT_EQUAL(evspace_told_1.budget(&budget), 0);
		CU_ASSERT_EQUAL(evspace_told_1.latest(NULL, 0, &figures), 0);
		memcpy(&view, bytes, sizeof(view));
		memcpy(&said, bytes + 1, sizeof(said));
		view.mono_ns = 1 + view.mono_ns % 1000;
		said.mono_ns = 1 + said.mono_ns % 1000;
		segment_told_put_view(page(), &view);
		segment_told_put_budget(page(), &said);
		CU_ASSERT_EQUAL(evspace_told_1.latest(NULL, 0, &figures), 1);
		CU_ASSERT_TRUE(figures.n >= 0 && figures.n <= EVSPACE_OPERATIONS);
		CU_ASSERT_TRUE(strlen(figures.operations[0].name) < EVSPACE_NAME);
		if (evspace_told_1.budget(&budget))
			CU_ASSERT_TRUE(!isinf(budget.budget) && budget.n_modes <= EVSPACE_MODES);
	}
	collect_stop();
}

static _Atomic bool ended;

static void *writes(void *arg)
{
	double share = *(const double *)arg;

	while (!ended) {
		struct segment_told_budget said = budget_of(share);

		segment_told_put_budget(page(), &said);
	}
	return NULL;
}

/* Two write at once, as fast as they can: what is read is of one of them. */
static void two_writers(void)
{
	static double shares[2] = {1, 2};
	unsigned whole = 0, mixed = 0;
	struct evspace_budget told;
	pthread_t threads[2];

	start();
	ended = false;
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, writes, &shares[i]), 0);
	for (unsigned i = 0; i < 10000000 && whole < 2000; i++) {
		if (!evspace_told_1.budget(&told))
			continue;
		whole++;
		mixed += told.budget != told.slowdown || told.low != told.rate_hz ||
			 told.budget != told.rate_hz;
	}
	ended = true;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CU_ASSERT_TRUE(whole > 0);
	CU_ASSERT_EQUAL(mixed, 0);
	collect_stop();
}

static CU_TestInfo cases[] = {
	{"nobody has said anything", nobody},
	{"a budget, what is measured, and modes", budget_is_told},
	{"the newest wave of a view", views_are_told},
	{"what is said of the future is not there", none_of_the_future},
	{"garbage", garbage},
	{"two writers at once", two_writers},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "told",
		 .pInitFunc = segments_folder_make,
		 .pCleanupFunc = segments_folder_remove,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
