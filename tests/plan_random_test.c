/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is true of the plans of random pathmaps, and of the largest one. */
#include "pathmap/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tests/maps.h"
#include "tests/random.h"
#include "tests/tap.h"

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

static CU_TestInfo plan_cases[] = {
	{"the plans of 500 random pathmaps are good", random_pathmaps},
	{"the plans of the largest pathmap are good", largest_pathmap},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "plans of random pathmaps", .pTests = plan_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
