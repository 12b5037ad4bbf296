/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests trees of steered collectives: which texts are rules, and that the routes of any members of
 * any tree reach everybody once. */
#include "tests/random.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/collect/mpi/steer-tree.h"

static bool reads(const char *text)
{
	struct steer_rules rules;
	bool right = steer_rules_read(&rules, text);

	if (right)
		steer_rules_fini(&rules);
	return right;
}

static void rules_are_read(void)
{
	struct steer_rules rules;

	CU_ASSERT_TRUE_FATAL(steer_rules_read(
		&rules, "barrier,allreduce@world<=4096!=0(1-3)|4(5(6),7);bcast+rs=1;scatter!+=1"));
	CU_ASSERT_EQUAL_FATAL(rules.n, 3);
	CU_ASSERT_EQUAL(rules.items[0].kinds, 1u << STEER_BARRIER | 1u << STEER_ALLREDUCE);
	CU_ASSERT_TRUE(rules.items[0].world);
	CU_ASSERT_TRUE(rules.items[0].in_order);
	CU_ASSERT_EQUAL(rules.items[0].most_bytes, 4096);
	CU_ASSERT_EQUAL(rules.items[0].collected, STEER_COLLECTED);
	CU_ASSERT_EQUAL(rules.items[1].collected, 1u << STEER_JOIN | 1u << STEER_SEND);
	CU_ASSERT_EQUAL(rules.items[2].collected, 0);
	CU_ASSERT_EQUAL_FATAL(rules.items[0].tree.n, 8);
	CU_ASSERT_EQUAL(rules.items[0].tree.parent[4], -1);
	CU_ASSERT_EQUAL(rules.items[0].tree.parent[6], 5);
	CU_ASSERT_EQUAL(rules.items[0].tree.parent[7], 4);
	CU_ASSERT_FALSE(rules.items[1].world);
	CU_ASSERT_EQUAL(rules.items[1].most_bytes, UINT64_MAX);
	steer_rules_fini(&rules);
}

static void others_are_not(void)
{
	static const char *const wrong[] = {
		"barrier",
		"barrier=",
		"=0(1)",
		"nothing=0(1)",
		"barrier=0(1",
		"barrier=0(1))",
		"barrier=0()",
		"barrier=0(1,1)",
		"barrier=0|0",
		"barrier=3-1",
		"barrier+x=0(1)",
		"barrier+a",
		"barrier=0(x)",
		"barrier=65536",
		"barrier<=x=0(1)",
		"barrier,=0(1)",
		"barrier=0,1",
		"barrier=0(1)0",
		"barrier@all=0",
		"barrier=0(1-0)",
		"barrier=-1",
		"barrier=99999999999999999999",
		"barrier<=99999999999=0",
	};
	char deep[4 * STEER_DEPTH_MAX + 16] = "barrier=";
	size_t at = strlen(deep);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (reads(wrong[i]))
			tap_note("%s", wrong[i]);
		CU_ASSERT_FALSE(reads(wrong[i]));
	}
	for (unsigned i = 0; i < STEER_DEPTH_MAX + 1; i++)
		at += (size_t)snprintf(deep + at, sizeof(deep) - at, "%u(", i);
	CU_ASSERT_TRUE_FATAL(at < sizeof(deep));
	CU_ASSERT_FALSE(reads(deep));
	CU_ASSERT_FALSE(reads("bcast=0;bcast=0;bcast=0;bcast=0;bcast=0;bcast=0;bcast=0;bcast=0;"
			      "bcast=0"));
}

/* ---- routes ---- */

#define MOST 24

/* A random tree of ranks [0, n), as indexes of parents in its preorder. */
static void tree_make(struct steer_tree *tree, uint32_t n, uint64_t *seed)
{
	int32_t depth[MOST], way[MOST];

	tree->n = n;
	for (uint32_t i = 0; i < n; i++)
		tree->ranks[i] = (int32_t)i;
	for (uint32_t i = n; i-- > 1;) {
		uint32_t other = (uint32_t)random_below(seed, i + 1);
		int32_t rank = tree->ranks[i];

		tree->ranks[i] = tree->ranks[other];
		tree->ranks[other] = rank;
	}
	for (uint32_t i = 0; i < n; i++) {
		depth[i] = i ? (int32_t)random_below(seed, (uint64_t)depth[i - 1] + 2) : 0;
		tree->parent[i] = depth[i] ? way[depth[i] - 1] : -1;
		way[depth[i]] = (int32_t)i;
	}
}

static unsigned covered(const struct steer_route *route, struct steer_span span, uint8_t *by)
{
	unsigned n = 0;

	for (int k = 0; k < 2; k++)
		for (int32_t i = 0; i < span.n[k]; i++, n++)
			by[route->order[span.from[k] + i]]++;
	return n;
}

/* Everybody else is beyond one of my neighbours, who is the way to them. */
static void route_check(const struct steer_route *route)
{
	uint8_t by[MOST] = {0}, other[MOST];
	int32_t up, mine = route->parent[route->me];

	for (int32_t i = -1; i < route->n_children; i++) {
		int32_t neighbour = i < 0 ? mine : route->children[i];

		if (neighbour < 0)
			continue;
		covered(route, steer_route_beyond(route, neighbour), by);
		memset(other, 0, sizeof(other));
		CU_ASSERT_EQUAL(covered(route, steer_route_beyond(route, neighbour), other) +
					covered(route, steer_route_hither(route, neighbour), other),
				(unsigned)route->n);
		for (int32_t m = 0; m < route->n; m++)
			CU_ASSERT_EQUAL(other[m], 1);
	}
	for (int32_t m = 0; m < route->n; m++) {
		CU_ASSERT_EQUAL(by[m], m != route->me);
		up = steer_route_up(route, m);
		CU_ASSERT_EQUAL(up < 0, m == route->me);
		if (up < 0)
			continue;
		memset(other, 0, sizeof(other));
		covered(route, steer_route_beyond(route, up), other);
		CU_ASSERT_EQUAL(other[m], 1);
	}
}

/* Neighbours know each other, and from each member the way to any root ends there. */
static void routes_check(struct steer_route *routes, int32_t n)
{
	for (int32_t m = 0; m < n; m++) {
		route_check(&routes[m]);
		for (int32_t root = 0; root < n; root++) {
			int32_t at = m, steps = 0;

			while (at != root && steps++ <= n)
				at = steer_route_up(&routes[at], root);
			CU_ASSERT_EQUAL(at, root);
		}
		for (int32_t i = 0; i < routes[m].n_children; i++)
			CU_ASSERT_EQUAL(routes[routes[m].children[i]].parent[routes[m].children[i]],
					m);
		for (int32_t i = 0; i < n; i++)
			CU_ASSERT_EQUAL(routes[m].order[i], routes[0].order[i]);
	}
}

static void routes_reach_everybody(void)
{
	int32_t ranks[MOST], parents[MOST], world[MOST];
	struct steer_tree tree = {.ranks = ranks, .parent = parents};
	struct steer_route routes[MOST];
	uint64_t seed = 5;

	for (int round = 0; round < 400; round++) {
		uint32_t all = 1 + (uint32_t)random_below(&seed, MOST);
		int32_t n = 0;

		tree_make(&tree, all, &seed);
		for (uint32_t i = 0; i < all; i++)
			if (random_below(&seed, 3) || (n == 0 && i == all - 1))
				world[n++] = round % 2 ? (int32_t)i : (int32_t)(all - 1 - i);
		for (int32_t m = 0; m < n; m++)
			CU_ASSERT_TRUE_FATAL(steer_route_make(&routes[m], &tree, world, n, m));
		routes_check(routes, n);
		for (int32_t m = 0; m < n; m++)
			steer_route_fini(&routes[m]);
	}
}

static void strangers_have_none(void)
{
	int32_t ranks[] = {0, 1}, parents[] = {-1, 0}, world[] = {0, 2}, far[] = {0, 70000};
	struct steer_tree tree = {2, ranks, parents};
	struct steer_route route;

	CU_ASSERT_FALSE(steer_route_make(&route, &tree, world, 2, 0));
	CU_ASSERT_FALSE(steer_route_make(&route, &tree, far, 2, 0));
	CU_ASSERT_FALSE(steer_route_make(&route, &tree, world, 0, 0));
	CU_ASSERT_FALSE(steer_route_make(&route, &tree, world, 1, 1));
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"rules are read", rules_are_read},
		{"what is no rule is not", others_are_not},
		{"routes of any members of any tree reach everybody once", routes_reach_everybody},
		{"members that are not in the tree have none", strangers_have_none},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{"steer tree", NULL, NULL, NULL, NULL, cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
