/* SPDX-License-Identifier: BSD-3-Clause */
/* What a picture or a page shows of an execution: its states as points, as many as there is room
 * for. */
#ifndef EVSPACE_SPACE_H
#define EVSPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "consumers/draw/picture.h"
#include "consumers/phase/points.h"

/** Most points. */
#define SPACE_POINTS 8192u

/** Plain data. */
struct space {
	const char *name; /* of the execution */
	unsigned processes, n_subset, n_components;
	const bool *in_subset; /* by process; NULL: there is none */
	uint32_t base, blocks; /* blocks are @base to @base + @blocks - 1 */
	double explained[POINTS_COMPONENTS];
	uint64_t states, each, runs; /* one of @each of the states is here */
	struct point *points;	     /* by run and number */
	size_t n;
};

/** Can @path, which ends in .svg, .png or .html, be written? Returns 0, or -1 with @e. */
int space_check(const char *path, struct error *e);

/** Write it, in the place of what is there. Returns 0, or -1 with @e. */
int space_write(const struct space *s, const char *path, struct error *e);

/** Draw it. (space-picture.c) */
void space_draw(const struct space *s, struct picture *picture);

#endif
