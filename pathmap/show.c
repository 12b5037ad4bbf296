/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows plans: every path stage by stage with its host, and the tree as a graph. */
#include <stdio.h>

#include "pathmap/plan.h"

static void stages_print(const struct plan_stage *stages, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, ", %s %s%s%s", level_name(stages[i].level), stages[i].kind,
			*stages[i].args != '\0' ? " " : "", stages[i].args);
}

static void place_print(const struct plan_place *place, int depth, FILE *out)
{
	fprintf(out, "%*s%s %s%s", 2 * depth, "", place->node, place->address,
		place->leaf ? " leaf" : "");
	stages_print(place->local, place->n_local, out);
	stages_print(place->joined, place->n_joined, out);
	fputc('\n', out);
	for (size_t i = 0; i < place->n_children; i++)
		place_print(place->children[i], depth + 1, out);
}

void plan_print(const struct plan *plan, const struct pathmap *map, FILE *out)
{
	(void)map;
	place_print(plan->root, 0, out);
}
