/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests when a plan in effect is changed. */
#include "consumers/perturb/drift.h"

#include "tests/tap.h"

static const struct drift_look fine = {.budget = 0.01, .used = 0.0102, .now = 100, .best = 109};

static void noise_changes_nothing(void)
{
	struct drift d = {0};
	struct drift_look look = fine;

	for (unsigned i = 0; i < 100; i++) {
		/* better at every other look only */
		look.best = i % 2 ? 130 : 105;
		CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_STAYS);
	}
}

static void better_plans_have_to_stay_so(void)
{
	struct drift d = {0};
	struct drift_look look = fine;

	look.best = 111;
	for (unsigned i = 1; i < DRIFT_PATIENCE; i++)
		CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_STAYS);
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_BETTER);
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_STAYS);
}

/* A program of which twice as much fits at every other look: ever fewer changes for the better. */
static void plans_do_not_alternate(void)
{
	struct drift d = {0};
	unsigned risen = 0, late = 0;

	for (unsigned i = 0; i < 10000; i++) {
		struct drift_look look = fine;

		look.best = 130;
		if (d.risen)
			look.used = 0.02;
		if (drift_step(&d, &look) != DRIFT_BETTER)
			continue;
		risen++;
		late += i >= 5000;
	}
	CU_ASSERT_TRUE(risen > 5000 / DRIFT_PATIENCE_MOST);
	CU_ASSERT_TRUE(late <= 5000 / DRIFT_PATIENCE_MOST);
}

static void the_budget_is_kept_at_once(void)
{
	struct drift d = {0};
	struct drift_look look = fine;

	look.used = 0.0106;
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_OVER);
	look = fine;
	look.fresh = true;
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_FRESH);
	look = fine;
	look.now = look.best = 0;
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_STAYS);
}

/* Then the cheapest is in effect at once, stays, and goes when another one keeps it for some time.
 */
static void none_keeps_the_budget(void)
{
	struct drift d = {0};
	struct drift_look look = fine;

	look.none = true;
	look.best = look.used = 0;
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_NONE);
	look.now = 0;
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_STAYS);
	look.fresh = true;
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_FRESH);
	look.fresh = look.none = false;
	look.best = 100;
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_STAYS);
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_BETTER);
	/* and each time that it was for a while only, that takes twice as long */
	look.now = 100;
	look.none = true;
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_NONE);
	look.now = 0;
	look.none = false;
	for (unsigned i = 1; i < 2 * DRIFT_PATIENCE; i++)
		CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_STAYS);
	CU_ASSERT_EQUAL(drift_step(&d, &look), DRIFT_BETTER);
}

static void probes_follow_their_cost(void)
{
	CU_ASSERT_FALSE(drift_probe(100, 100));
	CU_ASSERT_FALSE(drift_probe(100, 85));
	CU_ASSERT_TRUE(drift_probe(100, 75));
	CU_ASSERT_TRUE(drift_probe(100, 0));
	CU_ASSERT_FALSE(drift_probe(100, 190));
	CU_ASSERT_TRUE(drift_probe(100, 210));
}

static CU_TestInfo cases[] = {
	{"noise changes nothing", noise_changes_nothing},
	{"a better plan has to stay better", better_plans_have_to_stay_so},
	{"plans do not alternate", plans_do_not_alternate},
	{"the budget is kept at once", the_budget_is_kept_at_once},
	{"a probe follows what a look takes", probes_follow_their_cost},
	{"no plan keeps it", none_keeps_the_budget},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {{.pName = "drift", .pTests = cases},
					      CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
