/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up how long processes are together, two by two, whenever one leaves. */
#include "consumers/phase/coincidence.h"

#include <math.h>
#include <stdlib.h>

#include "consumers/analysis/student.h"
#include "consumers/phase/vectors.h"
#include "pathmap/base/memory.h"

void coincidence_init(struct coincidence *c, unsigned processes)
{
	*c = (struct coincidence){.processes = processes};
	if (processes > COINCIDENCE_MOST)
		return;
	c->together = memory_new((size_t)processes * processes, sizeof(*c->together));
	c->since = memory_new(processes, sizeof(*c->since));
}

void coincidence_fini(struct coincidence *c)
{
	free(c->together);
	free(c->since);
	*c = (struct coincidence){0};
}

/* With those that are in its block: since the later one of two has come. */
VECTORS static void add_up(struct coincidence *c, unsigned process, const uint32_t *block)
{
	const double *restrict came = c->since;
	double *restrict row = c->together + (size_t)process * c->processes;
	double time = c->time, own = came[process];
	uint32_t in = block[process];

	for (unsigned q = 0; q < c->processes; q++) {
		double since = came[q] > own ? came[q] : own;

		row[q] += block[q] == in ? time - since : 0;
	}
}

static void process_leave(struct coincidence *c, unsigned process, const uint32_t *block)
{
	add_up(c, process, block);
	c->since[process] = c->time;
}

void coincidence_change(struct coincidence *c, unsigned process, const uint32_t *block)
{
	if (c->together)
		process_leave(c, process, block);
}

/* Each of those that stay leaves in turn, and then is not there for the next ones. */
void coincidence_run(struct coincidence *c, const uint32_t *block)
{
	for (unsigned p = 0; p < c->processes && c->together; p++)
		process_leave(c, p, block);
	for (unsigned p = 0; p < c->processes && c->together; p++)
		c->since[p] = 0;
	c->before += c->time;
	c->time = 0;
}

int coincidence_share(const struct coincidence *c, double *share)
{
	size_t n = c->processes;

	if (!c->together || !(c->before > 0))
		return -1;
	for (size_t p = 0; p < n; p++) {
		for (size_t q = 0; q < n; q++)
			share[p * n + q] =
				p == q ? 1
				       : (c->together[p * n + q] + c->together[q * n + p]) /
						 c->before;
	}
	return 0;
}

/* With all others. */
static double mean_share(const double *share, unsigned n, unsigned process)
{
	double sum = 0;

	for (unsigned q = 0; q < n; q++)
		sum += q == process ? 0 : share[(size_t)process * n + q];
	return sum / (n - 1);
}

struct coincidence_apart coincidence_apart(const double *share, unsigned processes,
					   unsigned process)
{
	unsigned n = processes - 1;
	struct coincidence_apart a = {.share = mean_share(share, processes, process)};
	double mean = 0, squares = 0;

	for (unsigned p = 0; p < processes; p++)
		mean += p == process ? 0 : mean_share(share, processes, p) / n;
	for (unsigned p = 0; p < processes; p++)
		squares += p == process ? 0 : pow(mean_share(share, processes, p) - mean, 2);
	/* of those n are with each other, and one with @process */
	a.others = (mean * n - a.share) / (n - 1);
	a.unlikely = fmin(1, processes * student_unlike(a.share, mean, squares, n));
	return a;
}
