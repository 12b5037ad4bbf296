/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what of leases and functions is news for the audit: the first time, whatever a peer says.
 */
#include "node-agent/control/lasting.h"

#include <stdio.h>

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
	struct lasting l = {.n = 0};

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
	lasting_fini(&l);
}

/* The same functions elsewhere, or of somebody else whom the same agent relays. */
static void elsewhere(void)
{
	Evspace__Functions its = EVSPACE__FUNCTIONS__INIT;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	static char f[] = "f", all[] = "/**", rank[] = "/rank0/**", bob[] = "bob", view[] = "view";
	char *names[] = {f}, *select[] = {rank, all};
	struct lasting l = {.n = 0};

	ask.functions = &its;
	its.names = names;
	its.n_names = 1;
	its.ms = 1000;
	its.again = true;
	ask.select = select;
	ask.n_select = 1;
	CU_ASSERT(news_at(&l, &ask, NOW));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW));
	select[0] = all;
	CU_ASSERT(news_at(&l, &ask, NOW));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW));
	ask.n_select = 2;
	CU_ASSERT(news_at(&l, &ask, NOW));
	ask.n_select = ask.n_within = 1;
	ask.within = select + 1;
	CU_ASSERT(news_at(&l, &ask, NOW));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW));
	ask.n_select = 0;
	CU_ASSERT(news_at(&l, &ask, NOW));
	ask.who = bob;
	CU_ASSERT(news_at(&l, &ask, NOW));
	ask.view = view;
	CU_ASSERT(news_at(&l, &ask, NOW));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW));
	/* ended there, it may have ended elsewhere, too */
	its.ms = 0;
	CU_ASSERT(news_at(&l, &ask, NOW));
	its.ms = 1000;
	ask.view = ask.who;
	ask.n_within = 0;
	ask.n_select = 1;
	CU_ASSERT(news_at(&l, &ask, NOW));
	lasting_fini(&l);
}

/* As many as a command may have are all remembered. */
static void many(void)
{
	static char texts[FUNCTIONS_ASKED][8];
	Evspace__Functions its = EVSPACE__FUNCTIONS__INIT;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	char *names[FUNCTIONS_ASKED];
	struct lasting l = {.n = 0};

	for (unsigned i = 0; i < FUNCTIONS_ASKED; i++) {
		snprintf(texts[i], sizeof(texts[i]), "f%u", i);
		names[i] = texts[i];
	}
	ask.functions = &its;
	its.names = names;
	its.n_names = FUNCTIONS_ASKED;
	its.ms = 1000;
	its.again = true;
	CU_ASSERT(news_at(&l, &ask, NOW));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW + 999 * MS));
	/* others are instead of those that have ended */
	for (unsigned i = 0; i < FUNCTIONS_ASKED; i++)
		texts[i][0] = 'g';
	CU_ASSERT(news_at(&l, &ask, NOW + 1999 * MS));
	CU_ASSERT_FALSE(news_at(&l, &ask, NOW + 2998 * MS));
	CU_ASSERT_EQUAL(l.n, FUNCTIONS_ASKED);
	lasting_fini(&l);
}

static void leases(void)
{
	Evspace__Lease lease = EVSPACE__LEASE__INIT;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	struct lasting l = {.n = 0};

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
	lasting_fini(&l);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"functions", functions}, {"functions elsewhere", elsewhere},
		{"many functions", many}, {"leases", leases},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "lasting", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
