/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which hosts run stages that fold early, below those that join all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tests/maps.h"
#include "tests/tap.h"

static const char cluster[] = "cluster A { nodes a[0-5]; address a[0-5].example:1; gateway ga; }"
			      "cluster B { nodes b[0-3]; address b[0-3].example:1; }"
			      "node ga { address ga.example:1; } node front;";
static const char places[] = "entry front; place rank[0-9] on a[0-5] b[0-3];";

static int reduces_fold(const char *kind, const char *args, const struct stage_traits *below,
			struct stage_traits *traits, struct error *e)
{
	(void)args;
	(void)below;
	(void)e;
	if (traits != NULL)
		*traits = (struct stage_traits){.folds = strcmp(kind, "reduce") == 0};
	return 0;
}

/* Add "a0: cluster reduce last; " for each host that runs a stage early. */
static void early_write(FILE *out, const struct plan_place *place)
{
	if (place->early)
		fprintf(out, "%s: %s %s %s; ", place->node, level_name(place->joined[0].level),
			place->joined[0].kind, place->joined[0].args);
	for (size_t i = 0; i < place->n_children; i++)
		early_write(out, place->children[i]);
}

/* Who runs which stage early, with these stages and this mapping. */
static void early(const char *stages, const char *mapping, const char *expected)
{
	char *program = memory_format("application demo { ranks rank[0-9]; view v { select /**; "
				      "read latest; %s } }",
				      stages);
	char *where = memory_format("%s %s", places, mapping), *said;
	struct pathmap *map;
	struct plan *plan;
	struct error e;
	size_t bytes;
	FILE *out = open_memstream(&said, &bytes);

	map = maps_make((const struct map_text[]){{program, strlen(program)},
						  {cluster, strlen(cluster)},
						  {where, strlen(where)}},
			reduces_fold, stderr);
	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, &e), 0);
	CU_ASSERT_EQUAL(plan_verify(plan, map, &e), 0);
	early_write(out, plan->root);
	fclose(out);
	if (strcmp(said, expected) != 0)
		tap_note("%s %s: %s", stages, mapping, said);
	CU_ASSERT_STRING_EQUAL(said, expected);
	free(said);
	plan_free(plan);
	pathmap_free(map);
	free(program);
	free(where);
}

static void below_clusters(void)
{
	early("node reduce last; cluster reduce last; all reduce last;", "tree fanout 2;",
	      "a0: cluster reduce last; a1: cluster reduce last; b1: cluster reduce last; ");
	/* cluster stages run at the front, as it joins the nodes of B */
	early("node reduce last; cluster reduce last;", "tree flat;", "ga: cluster reduce last; ");
}

static void below_the_entry(void)
{
	early("node reduce last; all reduce first;", "tree fanout 2;",
	      "ga: all reduce first; a0: all reduce first; a1: all reduce first; "
	      "b0: all reduce first; b1: all reduce first; ");
}

static void nowhere(void)
{
	/* what keeps tuples folds nothing, nor do those behind it */
	early("node reduce last; cluster sort; cluster reduce last;", "tree fanout 2;", "");
	/* the mapping keeps it away from nodes */
	early("node reduce last;", "tree fanout 2; stages node at cluster;", "");
	/* there is none above */
	early("node reduce last;", "tree fanout 2;", "");
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"below the host that joins a cluster", below_clusters},
		{"below the entry", below_the_entry},
		{"behind what keeps tuples, and where the mapping puts it higher: nowhere",
		 nowhere},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "early", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
