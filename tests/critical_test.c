/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the share of the collectors' time on ranks that all others wait for: cases worked by hand,
 * and a simulated program whose share is known. */
#include "consumers/budget/critical.h"

#include <math.h>

#include "tests/random.h"
#include "tests/tap.h"

#define MOST 100000u

static struct critical_event events[MOST];
static size_t n;

static void event(uint32_t rank, int64_t start_ns, double cost_ns)
{
	events[n++] = (struct critical_event){
		.rank = rank, .host = rank, .start_ns = start_ns, .cost_ns = cost_ns};
}

static void collective(uint32_t rank, uint32_t number, int64_t start_ns, double error_ns)
{
	event(rank, start_ns, 10);
	events[n - 1].number = number;
	events[n - 1].collective = 1;
	events[n - 1].error_ns = error_ns;
}

/* Both enter number 5 at 0. Then rank 0 takes 10 for that and 20 + 30 for two others, and comes at
 * 1000; rank 1 takes 10 + 40 and comes at @late_ns. */
static void two_ranks(int64_t late_ns, double error_ns)
{
	n = 0;
	collective(0, 6, 1000, error_ns);
	collective(0, 5, 0, error_ns);
	event(0, 100, 20);
	event(0, 200, 30);
	collective(1, 5, 0, error_ns);
	event(1, 300, 40);
	collective(1, 6, late_ns, error_ns);
	event(1, late_ns + 1, 1000);
}

static struct critical_share share(uint32_t ranks)
{
	return critical_share(events, n, ranks, NULL, 0);
}

static void the_last_rank_counts(void)
{
	struct critical_share s;

	two_ranks(1250, 5);
	s = share(2);
	CU_ASSERT(s.collectives == 1 && s.told == 1);
	CU_ASSERT_DOUBLE_EQUAL(s.estimate, 50.0 / 110, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(s.delay, 50.0 / 1250, 1e-12);
	two_ranks(900, 5);
	s = share(2);
	CU_ASSERT_DOUBLE_EQUAL(s.estimate, 60.0 / 110, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(s.delay, 60.0 / 1000, 1e-12);
	/* of one collective there is no interval */
	CU_ASSERT(s.low == 0 && s.high == 1);
}

/* Known to 60 each, 100 apart they cannot be told, on one host they can. */
static void clocks_may_not_tell(void)
{
	struct critical_share s;

	two_ranks(1100, 60);
	s = share(2);
	CU_ASSERT(s.collectives == 1 && s.told == 0);
	CU_ASSERT(s.low == 0 && s.high == 1);
	two_ranks(1130, 60);
	CU_ASSERT_EQUAL(share(2).told, 1);
	two_ranks(1100, 60);
	for (size_t i = 0; i < n; i++)
		events[i].host = 0;
	CU_ASSERT_EQUAL(share(2).told, 1);
}

static void what_is_missing_does_not_count(void)
{
	struct critical_hole inside = {250, 260}, before = {-50, 0}, after = {1250, 1260};
	struct critical_hole around[] = {{1250, 1260}, {-50, -20}, {-60, 0}, {1255, 1256}};
	struct critical_hole among[] = {{1250, 1260}, {-50, 1}, {-60, -55}};

	two_ranks(1250, 5);
	CU_ASSERT_EQUAL(critical_share(events, n, 2, &inside, 1).collectives, 0);
	CU_ASSERT_EQUAL(critical_share(events, n, 2, &before, 1).collectives, 1);
	CU_ASSERT_EQUAL(critical_share(events, n, 2, &after, 1).collectives, 1);
	CU_ASSERT_EQUAL(critical_share(events, n, 2, around, 4).collectives, 1);
	CU_ASSERT_EQUAL(critical_share(events, n, 2, among, 3).collectives, 0);
	/* a rank that has said nothing */
	CU_ASSERT_EQUAL(share(3).collectives, 0);
	CU_ASSERT(isnan(share(3).estimate) && isnan(share(3).delay));
	/* one that has missed the collective before */
	two_ranks(1250, 5);
	events[4].number = 4;
	CU_ASSERT_EQUAL(share(2).collectives, 0);
	n = 0;
	CU_ASSERT(isnan(share(2).estimate));
}

/* Rank @k % 4 of 4 is last, with so many events of 10 before it. */
static double simulated(uint64_t *seed, uint32_t collectives)
{
	double last = 0, all = 0;

	n = 0;
	for (uint32_t k = 0; k < collectives; k++)
		for (uint32_t rank = 0; rank < 4; rank++) {
			uint32_t more = (uint32_t)random_below(seed, 20);
			int64_t at = 1000 * (int64_t)k + (rank == k % 4 ? 500 : 0);

			collective(rank, k, at, 1);
			for (uint32_t i = 0; i < more && k + 1 < collectives; i++)
				event(rank, at + 1 + i, 10);
			last += rank == (k + 1) % 4 ? 1 + more : 0;
			all += 1 + more;
		}
	return last / all;
}

static void intervals_hold(void)
{
	uint64_t seed = 5;
	unsigned held = 0;

	for (unsigned run = 0; run < 400; run++) {
		struct critical_share s;

		(void)simulated(&seed, 200);
		s = share(4);
		CU_ASSERT_FATAL(s.collectives == 199 && s.told == 199);
		held += s.low <= 0.25 && 0.25 <= s.high;
		CU_ASSERT(s.high - s.low < 0.06);
	}
	CU_ASSERT(held >= 360 && held < 400);
}

/* Where two of four cannot be told from each other, their share may be anything between. */
static void intervals_hold_what_cannot_be_told(void)
{
	uint64_t seed = 6;
	struct critical_share s;
	double sure;

	(void)simulated(&seed, 200);
	sure = share(4).estimate;
	for (size_t i = 0; i < n; i++)
		if (events[i].number % 2)
			events[i].error_ns = 400;
	s = share(4);
	CU_ASSERT(s.told > 90 && s.told < 110);
	CU_ASSERT(s.low < sure && sure < s.high && s.high - s.low > 0.1);
	CU_ASSERT_DOUBLE_EQUAL(s.estimate, sure, 1e-12);
}

static CU_TestInfo cases[] = {
	{"what the last rank took counts", the_last_rank_counts},
	{"clocks of hosts may not tell which it was", clocks_may_not_tell},
	{"collectives of which something is missing do not count", what_is_missing_does_not_count},
	{"intervals hold the share", intervals_hold},
	{"... with what clocks cannot tell", intervals_hold_what_cannot_be_told},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "critical", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
