/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests plans: who dials whom, where stages run, and what is true of the plans of random pathmaps.
 */
#include "pathmap/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/lineage.h"
#include "pathmap/memory.h"
#include "tests/maps.h"
#include "tests/random.h"
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
	struct pathmap *map = pathmap_local("here");
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
	struct pathmap *map = pathmap_local("here");
	struct plan *plan = NULL;
	struct error e;

	errno = 0;
	CU_ASSERT_EQUAL(plan_make(map, "volume", &plan, &e), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
	CU_ASSERT_STRING_EQUAL(e.text,
			       "no view `volume`; there are heartbeat, events, latest, rates, "
			       "histogram, sizes, slowest, largest, matrix, traffic");
	CU_ASSERT_PTR_NULL(plan);
	errno = ENOSPC;
	plan_free(NULL);
	CU_ASSERT_EQUAL(errno, ENOSPC);
	pathmap_free(map);
}

/* Texts of a random pathmap. */
struct draw {
	uint64_t seed;
	FILE *cluster, *mapping;
	unsigned sizes[4];
	unsigned n;
};

static unsigned below(struct draw *draw, unsigned n)
{
	return (unsigned)random_below(&draw->seed, n);
}

static void cluster_draw(struct draw *draw)
{
	FILE *out = draw->cluster;

	draw->n = 1 + below(draw, 4);
	for (unsigned c = 0; c < draw->n; c++) {
		unsigned size = draw->sizes[c] = 1 + below(draw, 9);

		fprintf(out, "cluster c%u { nodes c%un[0-%u]; address c%un[0-%u]:7440; ", c, c,
			size - 1, c, size - 1);
		switch (below(draw, 4)) {
		case 0:
			fprintf(out, "gateway g%u; ", below(draw, 3));
			break;
		case 1:
			fprintf(out, "gateway c%un%u; ", c, below(draw, size));
			break;
		default:
			break;
		}
		fprintf(out, "}\n");
	}
	fprintf(out,
		"node g0 { address g0:7440; gateway g1; }\n"
		"node g1 { address g1:7440; %s }\n"
		"node g2 { address g2:7440; }\n"
		"node front { address front:7440; }\n",
		below(draw, 2) ? "gateway g2;" : "");
}

static void run_draw(struct draw *draw)
{
	static const char *const levels[] = {"element", "thread", "node", "cluster", "all"};
	unsigned level = below(draw, 5), place = 2 + below(draw, 3);

	if (level <= place)
		fprintf(draw->mapping, "stages %s at %s; ", levels[level], levels[place]);
	if (below(draw, 3) == 0)
		fprintf(draw->mapping, "concurrency %u; ", 1 + below(draw, 4));
	if (below(draw, 3) == 0)
		fprintf(draw->mapping, "alternate g0 for c0n0; ");
}

static void tree_draw(struct draw *draw)
{
	FILE *out = draw->mapping;
	unsigned c = below(draw, draw->n);

	run_draw(draw);
	if (below(draw, 3) == 0)
		fprintf(out, "cluster on c%un%u; ", c, below(draw, draw->sizes[c]));
	switch (below(draw, 4)) {
	case 0:
		fprintf(out, "tree flat;\n");
		break;
	case 1:
		fprintf(out, "tree flat ignoring gateways;\n");
		break;
	case 2:
		fprintf(out, "tree fanout %u;\n", 2 + below(draw, 3));
		break;
	default:
		break;
	}
}

/* Returns how many ranks there are. */
static unsigned mapping_draw(struct draw *draw)
{
	unsigned c = below(draw, draw->n), ranks = 0;

	if (below(draw, 2) == 0)
		fprintf(draw->mapping, "entry c%un%u;\n", c, below(draw, draw->sizes[c]));
	else
		fprintf(draw->mapping, "entry %s;\n",
			(const char *const[]){"front", "g0", "g1", "g2"}[below(draw, 4)]);
	for (c = 0; c < draw->n; c++) {
		for (unsigned i = 0; i < draw->sizes[c]; i++) {
			unsigned n = below(draw, 3);

			for (unsigned j = 0; j < n || ranks == 0; j++)
				fprintf(draw->mapping, "place rank%u on c%un%u;\n", ranks++, c, i);
		}
	}
	tree_draw(draw);
	fprintf(draw->mapping, "view part { ");
	tree_draw(draw);
	fprintf(draw->mapping, "}\n");
	return ranks;
}

static void plans_verify(const struct pathmap *map)
{
	FILE *nowhere = fopen("/dev/null", "w");
	const char *const *views;
	size_t n = pathmap_views(map, &views);
	struct error e;

	CU_ASSERT_PTR_NOT_NULL_FATAL(nowhere);
	for (size_t i = 0; i < n; i++) {
		struct plan *plan;

		CU_ASSERT_EQUAL_FATAL(plan_make(map, views[i], &plan, &e), 0);
		if (plan_verify(plan, map, &e) < 0) {
			tap_note("%s: %s", views[i], e.text);
			CU_FAIL("is no good plan");
		}
		plan_print(plan, map, nowhere);
		plan_dot(plan, map, nowhere);
		plan_free(plan);
	}
	fclose(nowhere);
}

static void random_pathmaps(void)
{
	for (uint64_t seed = 0; seed < 500; seed++) {
		struct draw draw = {.seed = seed};
		char *cluster_text = NULL, *mapping_text = NULL, *application_text;
		size_t cluster_size, mapping_size;
		struct pathmap *map;
		unsigned ranks;

		draw.cluster = open_memstream(&cluster_text, &cluster_size);
		draw.mapping = open_memstream(&mapping_text, &mapping_size);
		CU_ASSERT_TRUE_FATAL(draw.cluster != NULL && draw.mapping != NULL);
		cluster_draw(&draw);
		ranks = mapping_draw(&draw);
		fclose(draw.cluster);
		fclose(draw.mapping);
		application_text = memory_format(
			"application random { ranks rank[0-%u];"
			"view part { select /*/*/rank0/** /c1/**; read latest; node sort;"
			"cluster reduce last; cluster sort; all sort; } }",
			ranks - 1);
		map = maps_make_of(application_text, cluster_text, mapping_text, stderr);
		if (map == NULL)
			tap_note("seed %u:\n%s%s", (unsigned)seed, cluster_text, mapping_text);
		CU_ASSERT_PTR_NOT_NULL_FATAL(map);
		plans_verify(map);
		pathmap_free(map);
		free(application_text);
		free(cluster_text);
		free(mapping_text);
	}
}

/* As large as trees may be: 8,192 hosts, with 65,536 ranks; one more is refused with its place. */
static void largest_pathmap(void)
{
	static const char views[] = "application large { ranks rank[0-65535]; view part { read "
				    "latest; cluster sort; } }";
	char *said = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&said, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (unsigned last = PLAN_PLACES - 2; last < PLAN_PLACES; last++) {
		char *clusters = memory_format(
			"cluster A { nodes a[0-%u]; address a[0-%u]:1; } node front;", last, last);
		char *mapping = memory_format("entry front; place rank[0-65535] on a[0-%u] cyclic; "
					      "view part { tree fanout 2; }",
					      last);
		struct pathmap *map = maps_make_of(views, clusters, mapping, out);

		CU_ASSERT_EQUAL(map != NULL, last == PLAN_PLACES - 2);
		if (map != NULL)
			plans_verify(map);
		pathmap_free(map);
		free(clusters);
		free(mapping);
	}
	fclose(out);
	CU_ASSERT_PTR_NOT_NULL(strstr(said,
				      "application.map:1:47: the tree of view `part` has 8193 "
				      "hosts; at most 8192 are possible"));
	free(said);
}

/* Who stands in is asked by those above: not by him whose part it is, nor by others that might. */
static void lineage_of_alternates(void)
{
	char *mapping = memory_format("%s tree flat; alternate b[1-2] for b0;", places);
	struct pathmap *map = maps_make_of(application, cluster, mapping, stderr);

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT(lineage_has(map, "b1", "front"));
	CU_ASSERT(lineage_has(map, "b0", "b1"));
	CU_ASSERT_FALSE(lineage_has(map, "b1", "b0"));
	CU_ASSERT_FALSE(lineage_has(map, "b1", "b2"));
	CU_ASSERT_FALSE(lineage_has(map, "b3", "b1"));
	pathmap_free(map);
	free(mapping);
}

static CU_TestInfo plan_cases[] = {
	{"the shapes of trees", shapes},
	{"the shape of a view's own tree", shape_of_a_view},
	{"the shape with a gateway inside its cluster", shape_with_a_gateway_inside},
	{"stages: where they run, in which order", stages_of_a_plan},
	{"stages where the mapping puts them", places_of_stages},
	{"how many are asked at once, and who stands in", concurrency_and_alternates},
	{"who may ask one that stands in", lineage_of_alternates},
	{"the plan of one host", local_plan},
	{"an unknown view: those that there are", unknown_view},
	{"the plans of 500 random pathmaps are good", random_pathmaps},
	{"the plans of the largest pathmap are good", largest_pathmap},
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
