/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up how long processes are together, two by two, whenever one leaves. */
#include "consumers/phase/coincidence.h"

#include <math.h>
#include <stdlib.h>

#include "consumers/analysis/student.h"
#include "pathmap/base/memory.h"

static void block_enter(struct coincidence *c, unsigned process, uint32_t block)
{
	uint32_t next = c->first[block];

	c->others[process] = (struct coincidence_next){.next = next};
	if (next)
		c->others[next - 1].before = process + 1;
	c->first[block] = process + 1;
	c->count[block]++;
}

static void block_leave(struct coincidence *c, unsigned process, uint32_t block)
{
	struct coincidence_next of = c->others[process];

	if (of.next)
		c->others[of.next - 1].before = of.before;
	if (of.before)
		c->others[of.before - 1].next = of.next;
	else
		c->first[block] = of.next;
	c->count[block]--;
}

void coincidence_init(struct coincidence *c, unsigned processes, uint32_t blocks, uint32_t at)
{
	*c = (struct coincidence){.processes = processes};
	if (processes > COINCIDENCE_MOST)
		return;
	c->together = memory_new((size_t)processes * processes, sizeof(*c->together));
	c->since = memory_new(processes, sizeof(*c->since));
	c->first = memory_new(blocks, sizeof(*c->first));
	c->count = memory_new(blocks, sizeof(*c->count));
	c->others = memory_new(processes, sizeof(*c->others));
	for (unsigned p = 0; p < processes; p++)
		block_enter(c, p, at);
}

void coincidence_fini(struct coincidence *c)
{
	free(c->together);
	free(c->since);
	free(c->first);
	free(c->count);
	free(c->others);
	*c = (struct coincidence){0};
}

/* Where so large a part of all is, to go through all, by vectors, is faster than from one to the
 * next of those that are there. */
#define MANY(processes) ((processes) / 4)

/* With few others. */
static void few_add(struct coincidence *c, unsigned process, uint32_t in)
{
	double *row = c->together + (size_t)process * c->processes, own = c->since[process];

	for (uint32_t q = c->first[in]; q; q = c->others[q - 1].next) {
		double came = c->since[q - 1];

		row[q - 1] += c->time - (came > own ? came : own);
	}
}

/* With all others: since the later one of two has come. The compiler makes vectors of the loop. */
__attribute__((optimize("O3"))) static void many_add(struct coincidence *c, unsigned process,
						     const uint32_t *block)
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

static void add_up(struct coincidence *c, unsigned process, const uint32_t *block)
{
	uint32_t in = block[process];

	if (c->count[in] > MANY(c->processes))
		many_add(c, process, block);
	else
		few_add(c, process, in);
	c->since[process] = c->time;
}

void coincidence_change(struct coincidence *c, unsigned process, const uint32_t *block, uint32_t to)
{
	if (!c->together)
		return;
	add_up(c, process, block);
	block_leave(c, process, block[process]);
	block_enter(c, process, to);
}

/* Each of those that stay leaves in turn, and then is not there for the next ones. */
void coincidence_run(struct coincidence *c, const uint32_t *block)
{
	for (unsigned p = 0; p < c->processes && c->together; p++)
		add_up(c, p, block);
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
