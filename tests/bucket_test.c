/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that nobody begins more waves than its share pays for, whatever it asks, and nobody none.
 */
#include "node-agent/control/bucket.h"

#include <math.h>

#include "tests/random.h"
#include "tests/tap.h"

#define SECOND UINT64_C(1000000000)
#define STEP   (SECOND / 1000)

/* A consumer that always asks for @window waves, each of which takes about @wave_s and comes after
 * @ms; for @seconds. Returns the seconds that were spent, and in *@waves how many came. */
static double spend(struct bucket *b, double wave_s, unsigned window, unsigned ms, unsigned seconds,
		    uint64_t *now, uint64_t *waves)
{
	uint64_t end = *now + seconds * SECOND, due[64], seed = *now;
	unsigned under_way = 0;
	double spent = 0;

	*waves = 0;
	for (; *now < end; *now += STEP) {
		unsigned came = 0;
		double took = 0;

		while (came < under_way && due[came] <= *now) {
			took += wave_s * (0.5 + (double)random_below(&seed, 1001) / 1000);
			came++;
		}
		for (unsigned i = came; i < under_way; i++)
			due[i - came] = due[i];
		under_way -= came;
		*waves += came;
		spent += took;
		bucket_pay(b, took, came, *now);
		for (uint32_t room = bucket_room(b, under_way, *now);
		     room > 0 && under_way < window; room--)
			due[under_way++] = *now + ms * STEP;
		CU_ASSERT_FATAL(under_way <= 64);
	}
	return spent;
}

/* Of 60 s, with what was kept before: two waves and a second's part. */
static void no_more_than_its_part(void)
{
	double worst = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t state = seed, now = SECOND, waves;
		double part = 1e-4 * exp((double)random_below(&state, 500) / 100);
		double wave_s = 1e-5 * exp((double)random_below(&state, 500) / 100);
		unsigned window = 1 + (unsigned)random_below(&state, 64);
		unsigned ms = 1 + (unsigned)random_below(&state, 50);
		struct bucket b = {0};
		double spent, most = 61 * part + 3 * wave_s;

		bucket_set(&b, part, now);
		spent = spend(&b, wave_s, window, ms, 60, &now, &waves);
		worst = fmax(worst, spent / most);
		CU_ASSERT(spent <= most * 1.05 || waves <= 8);
		CU_ASSERT(waves >= 6);
		/* who could spend it, does: nothing but its own waves holds it up */
		if (window * 1e3 / ms * wave_s > 2 * part && part * 60 > 20 * wave_s)
			CU_ASSERT(spent > 0.8 * 60 * part);
	}
	tap_note("at most %.3f of what there was", worst);
}

static void without_a_total_all_go(void)
{
	struct bucket b = {0};

	bucket_set(&b, INFINITY, 5);
	bucket_pay(&b, 100, 3, 6);
	CU_ASSERT_EQUAL(bucket_room(&b, 64, 7), UINT32_MAX);
	/* what was spent before there was one is no debt */
	bucket_set(&b, 0.01, 8);
	CU_ASSERT_EQUAL(bucket_room(&b, 0, 9), 1);
	CU_ASSERT_EQUAL(bucket_room(&b, 1, 9), 0);
}

/* One wave took a minute, as the host was asleep: that is forgiven. */
static void debts_end(void)
{
	struct bucket b = {0};

	bucket_set(&b, 0.01, SECOND);
	bucket_pay(&b, 60, 1, SECOND);
	CU_ASSERT_EQUAL(bucket_room(&b, 0, 2 * SECOND), 0);
	CU_ASSERT(bucket_wait(&b, 0) <= 10);
	CU_ASSERT_EQUAL(bucket_room(&b, 0, 13 * SECOND), 1);
	/* and another part makes it no longer */
	bucket_pay(&b, 60, 1, 13 * SECOND);
	bucket_set(&b, 0.0001, 13 * SECOND);
	CU_ASSERT(bucket_wait(&b, 0) <= 10.0001);
}

/* Who closes its view before it is known what its wave took has paid for it nevertheless. */
static void who_leaves_pays(void)
{
	struct bucket b = {0}, other = {0};

	bucket_set(&b, 0.01, SECOND);
	CU_ASSERT_EQUAL(bucket_room(&b, 0, SECOND), 1);
	CU_ASSERT_DOUBLE_EQUAL(bucket_leave(&b, 1, SECOND), 0.01, 1e-9);
	CU_ASSERT_EQUAL(bucket_room(&b, 0, SECOND), 0);
	CU_ASSERT_DOUBLE_EQUAL(bucket_wait(&b, 0), 1, 1e-6);
	CU_ASSERT_EQUAL(bucket_room(&b, 0, 3 * SECOND), 1);
	/* known: as it was, and nothing is owed while enough was kept */
	bucket_pay(&b, 0.002, 1, 3 * SECOND);
	CU_ASSERT_DOUBLE_EQUAL(bucket_leave(&b, 2, 3 * SECOND), 0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(bucket_leave(&b, 5, 3 * SECOND), 0.006, 1e-9);
	/* two of one name */
	bucket_set(&other, 0.01, 3 * SECOND);
	bucket_add(&other, &b);
	CU_ASSERT_DOUBLE_EQUAL(bucket_leave(&other, 0, 3 * SECOND), 0.006, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(other.wave_s, b.wave_s, 1e-9);
	/* no limit */
	bucket_set(&b, INFINITY, 4 * SECOND);
	CU_ASSERT_EQUAL(bucket_leave(&b, 5, 4 * SECOND), 0);
}

static CU_TestInfo cases[] = {
	{"nobody spends more than its part, and all who can spend that", no_more_than_its_part},
	{"without a total nothing is held", without_a_total_all_go},
	{"a debt lasts ten seconds at most", debts_end},
	{"who leaves pays for what is under way", who_leaves_pays},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "bucket", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
