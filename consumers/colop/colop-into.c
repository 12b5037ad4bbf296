/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what colop finds into an element of the run, for others that read it meanwhile. */
#include "consumers/colop/colop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/element-into.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

/* Tuples that it holds; how often those that are late often are said again. */
#define CAPACITY 1000u
#define EVERY_NS UINT64_C(1000000000)

#define FIELDS                                                                             \
	"kind text[8], rank i32, comm u32, number u32, operations u32, op text[32], site " \
	"text[64], "                                                                       \
	"process text[64], late_ns f64, error_ns f64, times_share f64, cost_share f64"

/* As these say. */
struct colop_finding {
	char kind[8];
	int32_t rank;
	uint32_t comm, number, operations;
	char op[32], site[64], process[64];
	double late_ns, error_ns, times_share, cost_share;
};

bool colop_into_begin(struct colop *c)
{
	const struct evspace_element_plan plan = {.name = c->into,
						  .run = evspace_run(c->follow.client),
						  .fields = FIELDS,
						  .bytes = sizeof(struct colop_finding),
						  .capacity = CAPACITY};
	char why[256];

	/* which run that is is known when there is one */
	if (!c->into || c->element || !*plan.run)
		return true;
	c->element = element_into(&plan, why, sizeof(why));
	if (!c->element)
		fprintf(stderr, "evspace colop: --into %s: %s\n", c->into, why);
	return c->element != NULL;
}

/* It never waits: the oldest is overwritten. */
static void put(const struct colop *c, struct colop_finding *f, const struct lateness_class *of,
		uint32_t process, uint32_t site)
{
	f->rank = attendance_rank(c->attendance, process);
	f->comm = of->comm;
	snprintf(f->op, sizeof(f->op), "%s", op_name(of->op));
	snprintf(f->site, sizeof(f->site), "%s", attendance_site(c->attendance, site));
	snprintf(f->process, sizeof(f->process), "%s", attendance_process(c->attendance, process));
	(void)element_into_put(c->element, f);
}

void colop_into_once(const struct colop *c, const struct late_once *late)
{
	struct colop_finding f = {
		.kind = "late",
		.number = late->number,
		.operations = 1,
		.late_ns = late->late_ns,
		.error_ns = late->error_ns,
		.cost_share = lateness_cost(c->lateness, late->of, late->caused_ns),
	};

	if (c->element)
		put(c, &f, late->of, late->process, late->site);
}

void colop_into_often(struct colop *c, uint64_t now_ns)
{
	const uint64_t whole = colop_counts(c)->n[MEETING_WHOLE];
	struct late_often *found;
	size_t n;

	if (!c->element || whole == c->put_whole || (now_ns && now_ns - c->put_ns < EVERY_NS))
		return;
	c->put_ns = now_ns;
	c->put_whole = whole;
	found = memory_new(c->top, sizeof(*found));
	n = lateness_often(c->lateness, c->least, found, c->top);
	for (size_t i = 0; i < n; i++) {
		struct colop_finding f = {
			.kind = "often",
			.operations = (uint32_t)found[i].meetings,
			.late_ns = found[i].late_ns,
			.error_ns = found[i].error_ns,
			.times_share = found[i].share.share,
			.cost_share = found[i].cost,
		};

		put(c, &f, found[i].member->of, found[i].member->process, found[i].member->site);
	}
	free(found);
}
