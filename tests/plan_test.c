/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests plans: who dials whom, where stages run. */
#include "pathmap/plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pathmap/plan/lineage.h"
#include "pathmap/base/memory.h"
#include "tests/maps.h"
#include "tests/tap.h"

static const char application[] =
	"application demo { ranks rank[0-9]; view v { select /**/p2p /**/wait; read stream;"
	"element filter op=send; thread reduce last; node sort;"
	"cluster reduce sum of bytes; all sort; all reduce first; } }";
static const char cluster[] = "cluster A { nodes a[0-5]; address a[0-5].example:1; gateway ga; }"
			      "cluster B { nodes b[0-3]; address b[0-3].example:1; }"
			      "node ga { address ga.example:1; } node front;";
static const char places[] = "entry front; place rank[0-9] on a[0-5] b[0-3];";

/* The tree as "front(ga(a0,a1),b0)", the caller's to free. */
static char *shape(const struct plan_place *place)
{
	char *text = memory_copy(place->node);

	for (size_t i = 0; i < place->n_children; i++) {
		char *below = shape(place->children[i]);
		char *longer = memory_format("%s%s%s%s", text, i == 0 ? "(" : ",", below,
					     i + 1 == place->n_children ? ")" : "");

		free(below);
		free(text);
		text = longer;
	}
	return text;
}

static void has_shape(const char *tree, const char *expected)
{
	char *mapping = memory_format("%s %s", places, tree);
	struct pathmap *map = maps_make_of(application, cluster, mapping, stderr);
	struct plan *plan;
	struct error e;
	char *said;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, &e), 0);
	said = shape(plan->root);
	if (strcmp(said, expected) != 0)
		tap_note("%s: %s", tree, said);
	CU_ASSERT_STRING_EQUAL(said, expected);
	if (plan_verify(plan, map, &e) < 0) {
		tap_note("%s: %s", tree, e.text);
		CU_FAIL("is no good plan");
	}
	free(said);
	plan_free(plan);
	pathmap_free(map);
	free(mapping);
}

static void shapes(void)
{
	has_shape("", "front(ga(a0,a1,a2,a3,a4,a5),b0(b1,b2,b3))");
	has_shape("tree by-cluster;", "front(ga(a0,a1,a2,a3,a4,a5),b0(b1,b2,b3))");
	has_shape("tree flat;", "front(ga(a0,a1,a2,a3,a4,a5),b0,b1,b2,b3)");
	has_shape("tree flat ignoring gateways;", "front(a0,a1,a2,a3,a4,a5,b0,b1,b2,b3)");
	has_shape("tree fanout 2;", "front(ga(a0(a2,a3),a1(a4,a5)),b0(b1(b3),b2))");
	has_shape("tree fanout 6;", "front(ga(a0,a1,a2,a3,a4,a5),b0(b1,b2,b3))");
	has_shape("cluster on a3; cluster on b2;", "front(ga(a3(a0,a1,a2,a4,a5)),b2(b0,b1,b3))");
	has_shape("tree fanout 2; cluster on a3;", "front(ga(a3(a0(a2,a4),a1(a5))),b0(b1(b3),b2))");
	has_shape("tree by-hand { ga { a5 { a[0-4]; } } b[0-1]; b3 b2; }",
		  "front(ga(a5(a0,a1,a2,a3,a4)),b0,b1,b2,b3)");
	has_shape("tree by-hand { front { ga { a[0-5]; } } b[0-3]; }",
		  "front(ga(a0,a1,a2,a3,a4,a5),b0,b1,b2,b3)");
}

static void shape_of_a_view(void)
{
	has_shape("tree flat; view v { tree fanout 2; cluster on b3; }",
		  "front(ga(a0(a2,a3),a1(a4,a5)),b3(b0(b2),b1))");
	has_shape("tree fanout 2; view v { cluster on b3; }",
		  "front(ga(a0(a2,a3),a1(a4,a5)),b3(b0(b2),b1))");
	has_shape("tree fanout 2; cluster on b3; view events { tree flat; cluster on b2; }",
		  "front(ga(a0(a2,a3),a1(a4,a5)),b3(b0(b2),b1))");
}

/* A gateway that is one of the cluster's nodes is above the node that joins the cluster. */
static void shape_with_a_gateway_inside(void)
{
	static const char inside[] =
		"cluster A { nodes a[0-4]; address a[0-4].example:1; gateway a1; }"
		"node front;";
	static const struct {
		const char *mapping, *shape;
	} cases[] = {
		{"entry front;", "front(a1(a0,a2,a3,a4))"},
		{"entry front; cluster on a3;", "front(a1(a3(a0,a2,a4)))"},
		{"entry front; cluster on a3; tree fanout 2;", "front(a1(a3(a0(a4),a2)))"},
		{"entry a0; cluster on a3;", "a0(a1,a2,a3,a4)"},
		{"entry a1; cluster on a3;", "a1(a0,a2,a3,a4)"},
		{"entry front; tree flat;", "front(a1(a0,a2,a3,a4))"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pathmap *map = maps_make_of("application demo { ranks any; }", inside,
						   cases[i].mapping, stderr);
		struct plan *plan;
		char *said;

		CU_ASSERT_PTR_NOT_NULL_FATAL(map);
		CU_ASSERT_EQUAL_FATAL(plan_make(map, "events", &plan, NULL), 0);
		said = shape(plan->root);
		CU_ASSERT_STRING_EQUAL(said, cases[i].shape);
		free(said);
		plan_free(plan);
		pathmap_free(map);
	}
}

static void stages_of_a_plan(void)
{
	struct pathmap *map = maps_make_of(application, cluster, places, stderr);
	const struct plan_place *leaf, *head;
	struct plan *plan;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, NULL), 0);
	CU_ASSERT_STRING_EQUAL(plan->view, "v");
	CU_ASSERT_EQUAL(plan->reading, READ_STREAM);
	CU_ASSERT_EQUAL(plan->n_select, 2);
	CU_ASSERT_STRING_EQUAL(plan->select[1], "/**/wait");
	CU_ASSERT_EQUAL(plan->n_places, 12);
	CU_ASSERT_EQUAL_FATAL(plan->root->n_joined, 2);
	CU_ASSERT_STRING_EQUAL(plan->root->joined[1].kind, "reduce");
	CU_ASSERT_STRING_EQUAL(plan->root->joined[1].args, "first");
	CU_ASSERT_FALSE(plan->root->leaf);
	head = plan->root->children[0];
	CU_ASSERT_EQUAL_FATAL(head->n_joined, 1);
	CU_ASSERT_EQUAL(head->joined[0].level, LEVEL_CLUSTER);
	CU_ASSERT_FALSE(head->leaf);
	leaf = head->children[5];
	CU_ASSERT_STRING_EQUAL(leaf->node, "a5");
	CU_ASSERT_STRING_EQUAL(leaf->address, "a5.example:1");
	CU_ASSERT_TRUE(leaf->leaf);
	CU_ASSERT_EQUAL_FATAL(leaf->n_local, 3);
	CU_ASSERT_STRING_EQUAL(leaf->local[0].args, "op=send");
	CU_ASSERT_EQUAL(leaf->local[2].level, LEVEL_NODE);
	head = plan->root->children[1];
	CU_ASSERT_STRING_EQUAL(head->node, "b0");
	CU_ASSERT_TRUE(head->leaf);
	CU_ASSERT_EQUAL(head->n_local, 3);
	CU_ASSERT_EQUAL(head->n_joined, 1);
	CU_ASSERT_PTR_EQUAL(plan_place(plan, 8), head);
	CU_ASSERT_PTR_NULL(plan_place(plan, 12));
	plan_free(plan);
	pathmap_free(map);
}

/* The stages that run on @place behind its gather, as "thread reduce;node sort;". */
static void has_joined(const struct plan_place *place, const char *expected)
{
	char said[256] = "";

	for (size_t i = 0; i < place->n_joined; i++) {
		size_t length = strlen(said);

		snprintf(said + length, sizeof(said) - length, "%s %s;",
			 level_name(place->joined[i].level), place->joined[i].kind);
	}
	CU_ASSERT_STRING_EQUAL(said, expected);
}

static void has_stages(const char *stages, size_t local, const char *head, const char *root)
{
	char *mapping = memory_format("%s %s", places, stages);
	struct pathmap *map = maps_make_of(application, cluster, mapping, stderr);
	struct plan *plan;
	struct error e;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, NULL), 0);
	CU_ASSERT_EQUAL(plan_place(plan, 4)->n_local, local);
	CU_ASSERT_EQUAL(plan_verify(plan, map, &e), 0);
	has_joined(plan->root->children[0], head);
	has_joined(plan->root->children[1], head);
	has_joined(plan->root, root);
	plan_free(plan);
	pathmap_free(map);
	free(mapping);
}

static void places_of_stages(void)
{
	has_stages("", 3, "cluster reduce;", "all sort;all reduce;");
	has_stages("stages node at cluster;", 2, "node sort;cluster reduce;",
		   "all sort;all reduce;");
	/* What comes behind a stage never runs below it. */
	has_stages("stages thread at cluster;", 1, "thread reduce;node sort;cluster reduce;",
		   "all sort;all reduce;");
	has_stages("stages element at cluster; stages cluster at all;", 0,
		   "element filter;thread reduce;node sort;",
		   "cluster reduce;all sort;all reduce;");
	has_stages("stages element thread node cluster at all;", 0, "",
		   "element filter;thread reduce;node sort;cluster reduce;all sort;all reduce;");
	has_stages("stages node at all; view v { stages node at node; }", 3, "cluster reduce;",
		   "all sort;all reduce;");
	has_stages("stages node at all; view events { stages node at node; }", 2, "",
		   "node sort;cluster reduce;all sort;all reduce;");
}

static void concurrency_and_alternates(void)
{
	char *mapping = memory_format(
		"%s concurrency 4; alternate b[1-2] for b0 b3; alternate a1 for a2;"
		"view v { concurrency sequential; alternate b3 for b0; tree fanout 2; }",
		places);
	struct pathmap *map = maps_make_of(application, cluster, mapping, stderr);
	const struct plan_place *b0;
	struct plan *plan;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, NULL), 0);
	CU_ASSERT_EQUAL(plan->root->concurrency, 1);
	CU_ASSERT_EQUAL(plan->root->n_alternates, 0);
	b0 = plan->root->children[1];
	CU_ASSERT_STRING_EQUAL(b0->node, "b0");
	CU_ASSERT_EQUAL(b0->concurrency, 1);
	/* The view's own come first. */
	CU_ASSERT_EQUAL_FATAL(b0->n_alternates, 3);
	CU_ASSERT_STRING_EQUAL(b0->alternates[0].node, "b3");
	CU_ASSERT_STRING_EQUAL(b0->alternates[1].node, "b1");
	CU_ASSERT_STRING_EQUAL(b0->alternates[1].address, "b1.example:1");
	CU_ASSERT_STRING_EQUAL(b0->alternates[2].node, "b2");
	/* Nobody stands in for a host that has nobody below it. */
	CU_ASSERT_EQUAL(plan_place(plan, 4)->n_alternates, 0);
	plan_free(plan);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "events", &plan, NULL), 0);
	CU_ASSERT_EQUAL(plan->root->concurrency, 4);
	plan_free(plan);
	pathmap_free(map);
	free(mapping);
}

static void local_plan(void)
{
	struct pathmap *map = pathmap_local("here", NULL);
	struct plan *plan;
	struct error e;

	CU_ASSERT_EQUAL_FATAL(plan_make(map, "heartbeat", &plan, &e), 0);
	CU_ASSERT_EQUAL(plan->n_places, 1);
	CU_ASSERT_TRUE(plan->root->leaf);
	CU_ASSERT_EQUAL(plan->root->n_local, 1);
	CU_ASSERT_STRING_EQUAL(plan->root->local[0].args, "last");
	CU_ASSERT_EQUAL(plan_verify(plan, map, &e), 0);
	plan_free(plan);
	pathmap_free(map);
}

static void unknown_view(void)
{
	struct pathmap *map = pathmap_local("here", NULL);
	struct plan *plan = NULL;
	struct error e;

	errno = 0;
	CU_ASSERT_EQUAL(plan_make(map, "volume", &plan, &e), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
	CU_ASSERT_STRING_EQUAL(
		e.text,
		"no view `volume`; there are heartbeat, events, latest, rates, "
		"histogram, sizes, slowest, largest, matrix, traffic, blocks, states, meet");
	CU_ASSERT_PTR_NULL(plan);
	errno = ENOSPC;
	plan_free(NULL);
	CU_ASSERT_EQUAL(errno, ENOSPC);
	pathmap_free(map);
}

static bool may_ask(const struct pathmap *map, const char *node, const char *other)
{
	struct lineage *lineage = lineage_new(map, node);
	bool may = lineage_has(lineage, other);

	lineage_free(lineage);
	return may;
}

/* Who stands in is asked by those above: not by him whose part it is, nor by others that might. */
static void lineage_of_alternates(void)
{
	char *mapping = memory_format("%s tree flat; alternate b[1-2] for b0;", places);
	struct pathmap *map = maps_make_of(application, cluster, mapping, stderr);

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT(may_ask(map, "b1", "front"));
	CU_ASSERT(may_ask(map, "b0", "b1"));
	CU_ASSERT_FALSE(may_ask(map, "b1", "b0"));
	CU_ASSERT_FALSE(may_ask(map, "b1", "b2"));
	CU_ASSERT_FALSE(may_ask(map, "b3", "b1"));
	CU_ASSERT_FALSE(may_ask(map, "b1", "nobody"));
	CU_ASSERT_FALSE(may_ask(map, "nobody", "front"));
	pathmap_free(map);
	free(mapping);
}

/* All that a host has is its own, but what it fetches from others. */
static void whose_elements(void)
{
	struct pathmap *map =
		maps_make_of("application demo { ranks rank[0-9]; collect p2p { remote b1; } "
			     "view v { read latest; } }",
			     cluster, places, stderr);
	struct plan *plan;
	struct error e;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, &e), 0);
	for (uint32_t i = 0, found = 0; found < plan->n_places; i++) {
		const struct plan_place *place = plan_place(plan, i);

		if (!place)
			continue;
		found++;
		CU_ASSERT_EQUAL(place->own, place->leaf && strcmp(place->node, "b1") != 0);
	}
	plan_free(plan);
	pathmap_free(map);
}

/* Whoever connects is looked up, as often as he likes: the trees are walked once. */
static void lineage_is_cheap(void)
{
	static const char views[] = "application large { ranks rank[0-1999]; view part { read "
				    "latest; cluster sort; } }";
	struct pathmap *map = maps_make_of(
		views, "cluster A { nodes a[0-1999]; address a[0-1999]:1; } node front;",
		"entry front; place rank[0-1999] on a[0-1999] cyclic; view part { tree fanout 2; }",
		stderr);
	struct lineage *lineage;
	clock_t begun = clock(), walked;
	unsigned found = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	for (int i = 0; i < 20; i++)
		CU_ASSERT_FALSE(may_ask(map, "a1999", "a1998"));
	walked = clock() - begun;
	lineage = lineage_new(map, "a1999");
	begun = clock();
	for (int i = 0; i < 10000; i++)
		found += lineage_has(lineage, "a1998");
	CU_ASSERT_EQUAL(found, 0);
	CU_ASSERT(clock() - begun < walked);
	lineage_free(lineage);
	pathmap_free(map);
}

/* What becomes of a consumer's wish by a map with @views in `views { }` and @tree in its mapping:
 * the shape, and what the entry asks at once, or why not. */
static char *wished(const char *views, const char *tree, const char *shape_wished,
		    const char *concurrency)
{
	struct plan_wish wish = {
		.view = "v",
		.tree = shape_wished,
		.concurrency = concurrency,
	};
	char *program = memory_format("%.*s views { %s } }", (int)sizeof(application) - 3,
				      application, views);
	char *mapping = memory_format("%s %s", places, tree), *text, *said;
	struct pathmap *map = maps_make_of(program, cluster, mapping, stderr);
	struct plan *plan;
	struct error e;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	if (plan_make_wish(map, &wish, &plan, &e) < 0) {
		said = memory_format("%s: %s", errno == EPERM ? "not allowed" : "wrong", e.text);
	} else {
		CU_ASSERT_EQUAL(plan_verify(plan, map, &e), 0);
		text = shape(plan->root);
		said = memory_format("%u %s", plan->root->concurrency, text);
		free(text);
		plan_free(plan);
	}
	pathmap_free(map);
	free(program);
	free(mapping);
	return said;
}

/* @expected may be the beginning. */
static void becomes(char *said, const char *expected)
{
	if (strncmp(said, expected, strlen(expected)) != 0) {
		tap_note("%s", said);
		CU_FAIL("is not what was expected");
	}
	free(said);
}

#define BY_CLUSTER "front(ga(a0,a1,a2,a3,a4,a5),b0(b1,b2,b3))"
#define FLAT	   "front(ga(a0,a1,a2,a3,a4,a5),b0,b1,b2,b3)"
#define BY_TWO	   "front(ga(a0(a2,a3),a1(a4,a5)),b0(b1(b3),b2))"

static void wishes(void)
{
	becomes(wished("trees flat;", "", NULL, NULL), "0 " BY_CLUSTER);
	becomes(wished("trees flat;", "", "", ""), "0 " BY_CLUSTER);
	becomes(wished("trees flat;", "", "flat", NULL), "0 " FLAT);
	becomes(wished("trees fanout;", "tree flat ignoring gateways;", "fanout 2", "sequential"),
		"1 " BY_TWO);
	becomes(wished("trees fanout flat;", "", "by-cluster", NULL), "0 " BY_CLUSTER);
	becomes(wished("", "tree fanout 2;", "fanout 2", NULL), "0 " BY_TWO);
	becomes(wished("trees by-cluster;", "view v { tree flat; }", "by-cluster", NULL),
		"0 " BY_CLUSTER);
}

static void wishes_that_the_map_refuses(void)
{
	becomes(wished("", "", "flat", NULL),
		"not allowed: the map lets no consumer choose the tree `flat` for view `v`, only "
		"its own, by-cluster; whoever keeps the map can allow it by `views { trees "
		"flat; }` in application.map");
	becomes(wished("trees flat by-cluster;", "", "fanout 3", NULL),
		"not allowed: the map lets no consumer choose the tree `fanout 3` for view `v`, "
		"only its own, by-cluster, or trees by-cluster flat; ");
	becomes(wished("", "tree fanout 2;", "fanout 3", NULL), "not allowed: ");
	becomes(wished("", "concurrency 4;", NULL, "5"),
		"not allowed: the map lets consumers ask 4 children at once in view `v`, not 5;");
	becomes(wished("concurrency at most 8;", "concurrency 4;", NULL, "all"), "not allowed: ");
	becomes(wished("trees flat;", "", "flat ignoring gateways", NULL),
		"wrong: `ignoring gateways` cannot follow `flat`");
	becomes(wished("", "", "by-hand", NULL), "wrong: there is no tree `by-hand`");
	becomes(wished("", "", "fanout 1", NULL), "wrong: the most children of a host");
	becomes(wished("", "", NULL, "0"), "wrong: `0` is not a number from 1 to 4096");
	becomes(wished("", "", NULL, "some"), "wrong: `some` is not a number");
}

/* As many as the map says, or fewer; or as many as it lets consumers choose. */
static void wishes_of_concurrency(void)
{
	becomes(wished("", "concurrency 4;", NULL, "4"), "4 ");
	becomes(wished("", "concurrency 4;", NULL, "sequential"), "1 ");
	becomes(wished("", "", NULL, "100"), "100 ");
	becomes(wished("concurrency at most 8;", "concurrency 4;", NULL, "8"), "8 ");
	becomes(wished("concurrency at most 2;", "concurrency 4;", NULL, "4"), "4 ");
	becomes(wished("concurrency at most all;", "concurrency 4;", NULL, "all"), "0 ");
}

static CU_TestInfo plan_cases[] = {
	{"the shapes of trees", shapes},
	{"the shape of a view's own tree", shape_of_a_view},
	{"the shape with a gateway inside its cluster", shape_with_a_gateway_inside},
	{"whose elements a host has", whose_elements},
	{"the shape that a consumer chooses", wishes},
	{"... which the map does not allow", wishes_that_the_map_refuses},
	{"... how many children are asked at once", wishes_of_concurrency},
	{"stages: where they run, in which order", stages_of_a_plan},
	{"stages where the mapping puts them", places_of_stages},
	{"how many are asked at once, and who stands in", concurrency_and_alternates},
	{"who may ask one that stands in", lineage_of_alternates},
	{"to ask whether one may costs next to nothing", lineage_is_cheap},
	{"the plan of one host", local_plan},
	{"an unknown view: those that there are", unknown_view},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "plan", .pTests = plan_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
