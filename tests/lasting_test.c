/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what of leases and functions is news for the audit: the first time, whatever a peer says.
 */
#include "node-agent/control/lasting.h"

#include "node-agent/control/functions.h"
#include "tests/tap.h"

#define MS  UINT64_C(1000000)
#define NOW UINT64_C(1000000000000)

static bool news_at(struct lasting *l, const Evspace__SwitchAsk *ask, uint64_t now_ns)
{
	bool news = lasting_news(l, ask, now_ns);

	lasting_keep(l, ask, now_ns);
	return news;
}

static void functions(void)
{
	Evspace__Functions its = EVSPACE__FUNCTIONS__INIT;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	static char f[] = "f", g[] = "g", other[] = "other";
	char *names[] = {f, g};
	struct lasting l = {.all = {{0, 0}}};

	ask.functions = &its;
	its.names = names;
	its.n_names = 1;
	its.ms = 1000;
	its.again = true;
	CU_ASSERT(news_at(&l, &ask, NOW));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW + 500 * MS));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW + 1400 * MS));
	/* one more; in another run; what has ended; what goes on no longer than it may */
	its.n_names = 2;
	CU_ASSERT(news_at(&l, &ask, NOW + 1400 * MS));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW + 1400 * MS));
	ask.run = other;
	CU_ASSERT(news_at(&l, &ask, NOW + 1400 * MS));
	its.ms = UINT32_MAX;
	CU_ASSERT(news_at(&l, &ask, NOW + 2400 * MS));
	CU_ASSERT(news_at(&l, &ask, NOW + (2400 + FUNCTIONS_MOST_MS) * MS));
	its.again = false;
	CU_ASSERT(news_at(&l, &ask, NOW + (2400 + FUNCTIONS_MOST_MS) * MS));
	its.ms = 0;
	CU_ASSERT(news_at(&l, &ask, NOW + (2400 + FUNCTIONS_MOST_MS) * MS));
	its.ms = 1000;
	its.again = true;
	CU_ASSERT(news_at(&l, &ask, NOW + (2400 + FUNCTIONS_MOST_MS) * MS));
}

static void leases(void)
{
	Evspace__Lease lease = EVSPACE__LEASE__INIT;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	struct lasting l = {.all = {{0, 0}}};

	CU_ASSERT_FALSE(news_at(&l, &ask, NOW));
	ask.lease = &lease;
	lease.ms = 1000;
	for (lease.id = 1; lease.id <= 2; lease.id++) {
		CU_ASSERT(news_at(&l, &ask, NOW));
		CU_ASSERT_FALSE(news_at(&l, &ask, NOW + 999 * MS));
	}
	/* as many as there is room for: those that end first are forgotten */
	for (; lease.id < 2 + LASTING_MOST; lease.id++)
		CU_ASSERT(news_at(&l, &ask, NOW + 1000 * MS));
	lease.id = 1 + LASTING_MOST;
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW + 1000 * MS));
	lease.ms = 0;
	CU_ASSERT(news_at(&l, &ask, NOW + 1000 * MS));
	lease.ms = 1000;
	CU_ASSERT(news_at(&l, &ask, NOW + 1000 * MS));
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"functions", functions},
		{"leases", leases},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "lasting", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
