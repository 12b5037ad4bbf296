/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the command that gives elements the properties of another map: what it says, and of whom.
 */
#include "node-agent/control/properties.h"

#include "node-agent/segment/segment-class.h"
#include "tests/maps.h"
#include "tests/tap.h"
#include "tree/data/span.h"

static struct pathmap *map_of(const char *application)
{
	struct pathmap *map =
		maps_make_of(application,
			     "cluster A { nodes a; address a:1; } "
			     "cluster B { nodes b; address b:1; }",
			     "entry a; place rank[0-1] on a; place rank[2-3] on b;", stderr);

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	return map;
}

static Evspace__SwitchAsk *order_of(const char *from, const char *to)
{
	struct pathmap *a = map_of(from), *b = map_of(to);
	Evspace__SwitchAsk *order = properties_order(a, b);

	pathmap_free(a);
	pathmap_free(b);
	return order;
}

#define BARE "application demo { ranks rank[0-3]; }"

static void test_nothing(void)
{
	CU_ASSERT_PTR_NULL(order_of(BARE, BARE));
	CU_ASSERT_PTR_NULL(order_of(BARE, "application demo { ranks rank[0-3]; elements /**/p2p { "
					  "capacity 300; } }"));
}

static void test_last_counts(void)
{
	Evspace__SwitchAsk *order = order_of(
		BARE, "application demo { ranks rank[0-3]; elements /A/**/p2p { lifetime 5s; } "
		      "elements /**/rank1/**/p2p { lifetime 7s; mode count; } }");
	uint64_t ns = 1;

	CU_ASSERT_PTR_NOT_NULL_FATAL(order);
	CU_ASSERT_TRUE(properties_are(order));
	CU_ASSERT_TRUE(properties_lifetime(order, "/A/a/rank0/t0/p2p", &ns));
	CU_ASSERT_EQUAL(ns, 5000000000u);
	CU_ASSERT_TRUE(properties_lifetime(order, "/A/a/rank1/t3/p2p.MPI_Send", &ns));
	CU_ASSERT_EQUAL(ns, 7000000000u);
	CU_ASSERT_TRUE(properties_lifetime(order, "/B/b/rank2/t0/p2p", &ns));
	CU_ASSERT_EQUAL(ns, 0);
	CU_ASSERT_FALSE(properties_lifetime(order, "/A/a/rank0/t0/wait", &ns));
	CU_ASSERT_EQUAL(properties_mode(order, "/A/a/rank1/t0/p2p"), MODE_COUNT);
	CU_ASSERT_EQUAL(properties_mode(order, "/A/a/rank0/t0/p2p"), MODE_TRACE);
	CU_ASSERT_EQUAL(properties_mode(order, "/A/a/rank1/t0/wait"), -1);
	evspace__switch_ask__free_unpacked(order, NULL);
}

/* A map without the rule puts back what its channel has. */
static void test_back(void)
{
	Evspace__SwitchAsk *order =
		order_of("application demo { ranks rank[0-3]; collect p2p { mode time; } "
			 "elements /**/rank1/**/p2p { mode count; } }",
			 "application demo { ranks rank[0-3]; collect p2p { mode time; } }");
	uint64_t ns;

	CU_ASSERT_PTR_NOT_NULL_FATAL(order);
	CU_ASSERT_EQUAL(properties_mode(order, "/A/a/rank1/t0/p2p"), MODE_TIME);
	CU_ASSERT_FALSE(properties_lifetime(order, "/A/a/rank1/t0/p2p", &ns));
	evspace__switch_ask__free_unpacked(order, NULL);
}

/* If it is not known what there was, all is said. */
static void test_all(void)
{
	struct pathmap *map =
		map_of("application demo { ranks rank[0-3]; collect p2p { mode time; } }");
	Evspace__SwitchAsk *order = properties_order(NULL, map);
	uint64_t ns = 1;

	CU_ASSERT_EQUAL(properties_mode(order, "/A/a/rank1/t0/p2p"), MODE_TIME);
	CU_ASSERT_EQUAL(properties_mode(order, "/A/a/rank1/t0/wait"), MODE_OFF);
	CU_ASSERT_TRUE(properties_lifetime(order, "/B/b/rank2/t0/wait", &ns));
	CU_ASSERT_EQUAL(ns, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(order->steered);
	CU_ASSERT_STRING_EQUAL(order->steered->rules, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(order->made);
	CU_ASSERT_STRING_EQUAL(order->made->elements, "");
	evspace__switch_ask__free_unpacked(order, NULL);
	pathmap_free(map);
}

/* A peer may say modes that there are not. */
static void test_unknown_mode(void)
{
	Evspace__Detail detail = EVSPACE__DETAIL__INIT, *list = &detail;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;

	detail.pattern = (char *)(uintptr_t) "/**";
	detail.mode = 4711;
	ask.details = &list;
	ask.n_details = 1;
	CU_ASSERT_EQUAL(properties_mode(&ask, "/A/a/rank1/t0/p2p"), -1);
	CU_ASSERT_TRUE(properties_mean(&ask, "one", "another"));
	CU_ASSERT_FALSE(properties_mean(&ask, "one", SPAN_RUN));
}

static CU_TestInfo cases[] = {
	{"maps that say the same of what exists", test_nothing},
	{"what is said last of a name counts", test_last_counts},
	{"what is said no more is put back", test_back},
	{"all of it, if it is not known what there was", test_all},
	{"modes that there are not, and runs", test_unknown_mode},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "order", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
