/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of an execution, made of entries that are sorted by time. */
#include "consumers/phase/execution.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

int execution_init(struct execution *x, const struct execution_shape *shape, struct error *e)
{
	unsigned in_subset = 0;

	*x = (struct execution){.shape = *shape, .runs = 1};
	x->block = memory_new(shape->processes, sizeof(*x->block));
	x->set_in = memory_new(shape->processes, sizeof(*x->set_in));
	for (unsigned i = 0; i < shape->processes; i++) {
		x->block[i] = shape->start;
		in_subset += shape->subset && shape->subset[i];
	}
	multiplicity_init(&x->whole, shape->processes, shape->blocks, shape->start);
	if (in_subset > 0)
		multiplicity_init(&x->subset, in_subset, shape->blocks, shape->start);
	if (shape->components)
		moments_init(&x->moments, shape->processes, shape->start);
	if (shape->times) {
		clumps_init(&x->clumps, shape->processes, shape->blocks, shape->start);
		occupancy_init(&x->occupancy, shape->processes, shape->blocks);
	}
	if (shape->alike)
		coincidence_init(&x->coincidence, shape->processes);
	if (shape->scan > 0)
		return scan_init(&x->scan, shape->processes, shape->scan, shape->blocks,
				 shape->start, e);
	return 0;
}

void execution_fini(struct execution *x)
{
	free(x->block);
	free(x->set_in);
	multiplicity_fini(&x->whole);
	multiplicity_fini(&x->subset);
	moments_fini(&x->moments);
	scan_fini(&x->scan);
	clumps_fini(&x->clumps);
	occupancy_fini(&x->occupancy);
	coincidence_fini(&x->coincidence);
	*x = (struct execution){0};
}

static void process_set(struct execution *x, unsigned process, uint32_t block)
{
	uint32_t from = x->block[process];

	if (from == block)
		return;
	if (x->shape.alike)
		coincidence_change(&x->coincidence, process, x->block);
	x->block[process] = block;
	multiplicity_change(&x->whole, from, block);
	if (x->subset.processes > 0 && x->shape.subset[process])
		multiplicity_change(&x->subset, from, block);
	if (x->shape.components)
		moments_change(&x->moments, process, block);
	if (x->shape.times) {
		clumps_change(&x->clumps, from, block);
		occupancy_leave(&x->occupancy, process, from);
	}
	if (x->shape.scan > 0)
		scan_change(&x->scan, process, from, block);
}

void execution_end(struct execution *x, void (*row)(void *arg, const struct execution *x),
		   void *arg)
{
	multiplicity_row(&x->whole);
	if (x->subset.processes > 0)
		multiplicity_row(&x->subset);
	moments_row(&x->moments);
	scan_row(&x->scan);
	if (row)
		row(arg, x);
	x->rows++;
}

static void run_begin(struct execution *x)
{
	x->runs++;
	x->seen = 0;
	if (x->shape.times) {
		clumps_run(&x->clumps);
		occupancy_run(&x->occupancy, x->block);
	}
	coincidence_run(&x->coincidence, x->block);
	x->time = 0;
	memset(x->set_in, 0, x->shape.processes * sizeof(*x->set_in));
	for (unsigned i = 0; i < x->shape.processes; i++)
		process_set(x, i, x->shape.start);
}

void execution_add(struct execution *x, double time, unsigned process, uint32_t block,
		   void (*row)(void *arg, const struct execution *x), void *arg)
{
	x->entries++;
	if (time < x->time) {
		execution_end(x, row, arg);
		run_begin(x);
	}
	if (time > x->time) {
		execution_end(x, row, arg);
		x->time = time;
		clumps_at(&x->clumps, time);
		occupancy_at(&x->occupancy, time);
		coincidence_at(&x->coincidence, time);
	}
	x->seen += x->set_in[process] == 0;
	x->clashes += x->set_in[process] == x->rows + 1 && x->block[process] != block;
	x->set_in[process] = x->rows + 1;
	process_set(x, process, block);
}
