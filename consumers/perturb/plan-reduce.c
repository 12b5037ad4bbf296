/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans without a probe (problem 1): which part of each class to record, and how that is shown. */
#include <stdio.h>
#include <stdlib.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/perturb/planning.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

static void print_reduced(const struct planning *p, const double *hz,
			  const struct reduced_plan *plan)
{
	json_t *frequencies = json_object();
	struct table table;
	char used[UNIT_TEXT];

	for (size_t i = 0; i < p->table.n; i++)
		json_object_set_new(frequencies, p->table.names[i], json_figure(hz[i]));
	if (p->common.json) {
		json_print(json_pack("{s:s,s:i,s:o,s:o,s:o,s:o,s:b,s:o}", "type", "plan", "plan", 1,
				     "frequencies", frequencies, "deduced",
				     plan_json_names(p->table.deduced, p->table.n_deduced),
				     "information", json_figure(plan->information), "used",
				     json_figure(plan->used), "exact", 1, "gap", json_figure(0)),
			   stdout);
		return;
	}
	json_decref(frequencies);
	plan_notes(p, false);
	table_heads(&table, NULL, (const char *const[]){"class", "events/s", "recorded/s"}, 3);
	for (size_t i = 0; i < p->table.n; i++) {
		table_cell(&table, "%s", p->table.names[i]);
		table_cell(&table, "%.6g", p->table.classes[i].frequency);
		table_cell(&table, "%.6g", hz[i]);
	}
	table_print(&table, stdout);
	table_fini(&table);
	table_say(stdout, "It tells %.6g and takes %s.", plan->information,
		  plan_amount(used, p, plan->used));
}

int plan_reduced(const struct planning *p)
{
	double *hz = memory_new(p->table.n, sizeof(*hz));
	struct reduced_plan plan;
	char used[UNIT_TEXT];
	int code = EXIT_FINE;

	if (!planning_reduce(p, hz, &plan)) {
		fprintf(stderr,
			"evspace plan: no plan keeps the budget: detecting all events, and the "
			"minimums, take %s\n",
			plan_amount(used, p, plan.used));
		code = EXIT_BAD_NEWS;
	} else {
		print_reduced(p, hz, &plan);
	}
	free(hz);
	return code;
}
