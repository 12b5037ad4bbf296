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

static CU_TestInfo cases[] = {
	{"noise changes nothing", noise_changes_nothing},
	{"a better plan has to stay better", better_plans_have_to_stay_so},
	{"plans do not alternate", plans_do_not_alternate},
	{"the budget is kept at once", the_budget_is_kept_at_once},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {{.pName = "drift", .pTests = cases},
					      CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
