/* SPDX-License-Identifier: BSD-3-Clause */
/* States as points: where they are in the cube on its diagonal and along components, and how their
 * processes are spread. Pure. */
#ifndef EVSPACE_POINTS_H
#define EVSPACE_POINTS_H

#include "consumers/phase/axes.h"
#include "consumers/phase/execution.h"

/** Most components. */
#define POINTS_COMPONENTS 3u

/** One state. */
struct point {
	uint64_t run, number; /* from 1 on: of the run, and in it */
	double time;
	struct axes_point at, subset_at; /* in the cube, and in that of the subset alone */
	double score[POINTS_COMPONENTS];
	double entropy, subset_entropy; /* Shannon's, of how many are in which block, in bits */
};

/** What makes points of the states of an execution, one after the other. */
struct points {
	unsigned processes, n_components;
	uint32_t base;			       /* the number of block 0 */
	const double *vectors;		       /* components times processes; borrowed */
	double *mean;			       /* of a process's block */
	struct axes_point *unit, *subset_unit; /* by process */
	uint64_t run, before; /* the run, and how many states there were before it */
};

/** For the states of @x, of which there are sums for components. For points_fini(). */
void points_init(struct points *p, const struct execution *x, uint32_t base, const double *vectors,
		 unsigned n_components);
void points_fini(struct points *p);

/** Make the point of the row that @x has completed. */
void points_next(struct points *p, const struct execution *x, struct point *point);

#endif
