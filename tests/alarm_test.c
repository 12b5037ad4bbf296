/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests when an alarm is raised, and when it is over. */
#include "consumers/watchdog/alarm.h"
#include "tests/tap.h"

#define START UINT64_C(1000000000000)

static struct alarm alarm_of;
static uint64_t now;

static void begin(void)
{
	alarm_of = (struct alarm){0};
	now = START;
}

static enum alarm_news look(uint64_t after_ns, bool seen, bool sure)
{
	now += after_ns;
	return alarm_take(&alarm_of, seen, sure, now);
}

static void what_is_sure_is_said_at_once(void)
{
	begin();
	CU_ASSERT_EQUAL(look(0, false, false), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(1, true, true), ALARM_BEGINS);
	CU_ASSERT_EQUAL(look(1, true, true), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(ALARM_SURE_NS, true, true), ALARM_NOTHING);
	CU_ASSERT_EQUAL(alarm_of.first_ns, START + 1);
}

static void what_is_not_sure_takes_a_moment(void)
{
	begin();
	CU_ASSERT_EQUAL(look(0, true, false), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(ALARM_SURE_NS - 1, true, false), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(1, true, false), ALARM_BEGINS);
	/* one that goes by meanwhile is not said at all */
	begin();
	CU_ASSERT_EQUAL(look(0, true, false), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(1, false, false), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(ALARM_SURE_NS, true, false), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(ALARM_OVER_NS, false, false), ALARM_NOTHING);
}

static void it_is_over_once(void)
{
	begin();
	CU_ASSERT_EQUAL(look(0, true, true), ALARM_BEGINS);
	CU_ASSERT_EQUAL(look(ALARM_OVER_NS - 1, false, false), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(1, false, false), ALARM_OVER);
	CU_ASSERT_EQUAL(look(ALARM_OVER_NS, false, false), ALARM_NOTHING);
	CU_ASSERT_EQUAL(look(1, true, true), ALARM_BEGINS);
}

/* A look that misses it, as hosts answer late, is no end. */
static void a_gap_is_no_end(void)
{
	begin();
	CU_ASSERT_EQUAL(look(0, true, true), ALARM_BEGINS);
	for (int i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(look(ALARM_OVER_NS / 2, false, false), ALARM_NOTHING);
		CU_ASSERT_EQUAL(look(1, true, true), ALARM_NOTHING);
	}
	CU_ASSERT_EQUAL(alarm_of.first_ns, START);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"what is sure is said at once", what_is_sure_is_said_at_once},
		{"what is not sure takes a moment", what_is_not_sure_takes_a_moment},
		{"it is over once", it_is_over_once},
		{"a gap is no end", a_gap_is_no_end},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "alarm", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
