/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what follows from timed events: means, their intervals, and what a time has cost. */
#include "consumers/client/price.h"

#include <math.h>
#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"

static struct price_timed timed[CHANNEL_PROGRAMS];
static struct evspace_channel_cost channels[CHANNEL_PROGRAMS];
static struct evspace_cost_sums sums;
static uint64_t seed = 7;

static void none(void)
{
	memset(timed, 0, sizeof(timed));
	memset(&sums, 0, sizeof(sums));
}

/* One in 64 of @events, each of @least to @most ns. */
static void sample(unsigned channel, uint64_t events, double least, double most)
{
	timed[channel].events += events;
	for (uint64_t i = 0; i < events / 64; i++) {
		double ns = least + (most - least) * (double)(random_below(&seed, 1001)) / 1000;

		timed[channel].n++;
		timed[channel].ns += ns;
		timed[channel].squares += ns * ns;
	}
}

static void means_with_intervals(void)
{
	unsigned held = 0;

	for (unsigned run = 0; run < 400; run++) {
		none();
		sample(CHANNEL_P2P, 64 * 400, 20, 60);
		sample(CHANNEL_COLLECTIVE, 64 * 100, 100, 300);
		price_channels(timed, channels, &sums);
		held += fabs(sums.collecting_s - (64 * 400 * 40 + 64 * 100 * 200) * 1e-9) <=
			sums.collecting_error_s;
	}
	/* 95 % of 400, and five standard deviations less */
	CU_ASSERT_TRUE(held >= 358 && held < 400);
	CU_ASSERT_EQUAL(sums.events, 64 * 500);
	CU_ASSERT_STRING_EQUAL(channels[CHANNEL_P2P].channel, "p2p");
	CU_ASSERT_DOUBLE_EQUAL(channels[CHANNEL_P2P].event_ns, 40, 3);
	CU_ASSERT_DOUBLE_EQUAL(channels[CHANNEL_P2P].error_ns, 1.96 * 40 / sqrt(12) / 20, 0.15);
}

static void none_timed(void)
{
	none();
	timed[CHANNEL_P2P].events = 10;
	price_channels(timed, channels, &sums);
	CU_ASSERT_EQUAL(sums.events, 10);
	CU_ASSERT_TRUE(isnan(sums.collecting_s));
	CU_ASSERT_TRUE(isnan(channels[CHANNEL_P2P].event_ns));
}

/* Rare channels cost as much as others; completions are part of what completes them. */
static void too_few_timed(void)
{
	none();
	sample(CHANNEL_P2P, 64 * 1000, 50, 50);
	timed[CHANNEL_ENV].events = 1000;
	timed[CHANNEL_COMPLETION].events = 1000000;
	price_channels(timed, channels, &sums);
	CU_ASSERT_DOUBLE_EQUAL(sums.collecting_s, 65000 * 50e-9, 1e-12);
	CU_ASSERT_EQUAL(sums.events, 64 * 1000 + 1000 + 1000000);
	CU_ASSERT_DOUBLE_EQUAL(sums.collecting_error_s, 0, 1e-12);
}

/* What is seen and not recorded costs, too: one of 66 is timed. */
static void seeing_is_paid(void)
{
	struct evspace_cost_sums before = {.taken_ns = 1000000000, .lived_s = 40};
	struct evspace_spent spent;

	none();
	timed[CHANNEL_P2P].passed = 1000;
	timed[CHANNEL_P2P].passed_ns = 1000 * 40;
	price_channels(timed, channels, &sums);
	CU_ASSERT_DOUBLE_EQUAL(channels[CHANNEL_P2P].passed_ns, 40, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(sums.passing_s, 66 * 1000 * 40e-9, 1e-12);
	sums.taken_ns = 3000000000;
	sums.lived_s = 48;
	CU_ASSERT_EQUAL(evspace_cost_between(&before, &sums, 0, &spent), 0);
	CU_ASSERT_DOUBLE_EQUAL(spent.collecting, 66 * 1000 * 40e-9 / 8, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(spent.low, spent.collecting, 1e-12);
}

static const struct evspace_cost_sums early = {.taken_ns = 1000000000,
					       .lived_s = 40,
					       .events = 1000000,
					       .collecting_s = 0.2,
					       .agents_s = 1,
					       .waited_s = 1};

/* Two seconds later, of four processes. */
static const struct evspace_cost_sums late = {.taken_ns = 3000000000,
					      .lived_s = 48,
					      .events = 2000000,
					      .collecting_s = 0.08,
					      .collecting_error_s = 0.02,
					      .agents_s = 1.08,
					      .link_bytes = 2000,
					      .switches = 10,
					      .waited_s = 1.8};

static void what_a_time_costs(void)
{
	struct evspace_spent spent;

	CU_ASSERT_EQUAL(evspace_cost_between(&early, &late, 0.06, &spent), 0);
	CU_ASSERT_DOUBLE_EQUAL(spent.seconds, 2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spent.events_hz, 5e5, 1e-3);
	/* the newest mean, 40 ns, is that of all */
	CU_ASSERT_DOUBLE_EQUAL(spent.collecting, 0.04 / 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spent.looking, 0.08 / 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spent.slowdown, 0.12 / 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spent.delayed, 0.1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spent.low, 0.03 / 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spent.high, 0.05 / 8 + 0.03, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spent.link_hz, 1000, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(spent.switches_hz, 5, 1e-9);
}

static void nothing_to_compare(void)
{
	struct evspace_spent spent;

	CU_ASSERT_EQUAL(evspace_cost_between(&late, &early, 0, &spent), -1);
	CU_ASSERT_EQUAL(evspace_cost_between(&late, &late, 0, &spent), -1);
}

static CU_TestInfo cases[] = {
	{"means, in intervals that hold the truth", means_with_intervals},
	{"nothing is known of what was not timed", none_timed},
	{"what is rare, and what is part of others", too_few_timed},
	{"what is seen and not recorded", seeing_is_paid},
	{"what a time has cost", what_a_time_costs},
	{"sums that are no such two", nothing_to_compare},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "price", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
