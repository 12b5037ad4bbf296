/* SPDX-License-Identifier: BSD-3-Clause */
/* Suggestions: mappings of one view that nobody wrote, and those of them that no other beats. */
#ifndef EVSPACE_SUGGESTION_H
#define EVSPACE_SUGGESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/cost/calibration.h"
#include "pathmap/model/pathmap.h"

/** One mapping of a view, and what is predicted of it. */
struct suggestion {
	char *lines;		   /* what to write into `view NAME { ... }` of mapping.map */
	bool present;		   /* that is what the map says today; then lines is "" */
	double waves_per_s;	   /* one under way */
	double window_waves_per_s; /* the window under way */
	double cpu_us;		   /* of all hosts, per wave */
	double busiest_cpu_us;	   /* of the host that uses the most */
	double busiest_bytes;	   /* on that host's links, per wave */
	char *busiest;		   /* its name */
};

/** Owns its suggestions. */
struct suggestions {
	struct suggestion *items;
	size_t n;
	size_t tried;
};

/**
 * Try the shapes by-cluster, flat and fan-outs from 2 to 32 for @view, each with its stages in
 * every place that makes another tree, and keep those that no other is at least as good as in all
 * of: the rate with one under way and with @window, the CPU time of the busiest host and of all,
 * and the bytes on its links. The mapping of today is there in any case, first; then the fastest
 * come first. suggestions_fini() frees. Returns 0, or -1 with @e (unknown view).
 */
int suggestions_make(struct suggestions *s, const struct pathmap *map, const char *view,
		     const struct calibration *calibration, unsigned window, struct error *e);

/** Free what it owns. */
void suggestions_fini(struct suggestions *s);

#endif
