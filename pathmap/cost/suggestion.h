/* SPDX-License-Identifier: BSD-3-Clause */
/* Suggestions: possible mappings of one view, of which those remain that no other one beats. */
#ifndef EVSPACE_SUGGESTION_H
#define EVSPACE_SUGGESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/cost/calibration.h"
#include "pathmap/model/pathmap.h"

/** One mapping of a view, and its prediction. */
struct suggestion {
	char *lines;		   /* what to write into `view NAME { ... }` of mapping.map */
	bool present;		   /* the map's own; then lines is "" */
	double waves_per_s;	   /* with one wave under way */
	double window_waves_per_s; /* with the window under way */
	double cpu_us;		   /* of all hosts, per wave */
	double busiest_cpu_us;	   /* of the busiest host */
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
 * Try the shapes by-cluster, flat and fan-outs from 2 to 32 for @view, each with all places of
 * stages that make a different tree. Keep those that no other one equals or beats in all of: the
 * rate with one wave and with @window waves under way, the CPU time of the busiest host and of all
 * hosts, and the bytes on the busiest host's links. The present mapping is always the first; then
 * the fastest come first. suggestions_fini() frees. Returns 0, or -1 with @e (unknown view).
 */
int suggestions_make(struct suggestions *s, const struct pathmap *map, const char *view,
		     const struct calibration *calibration, unsigned window, struct error *e);

/** Free what it owns. */
void suggestions_fini(struct suggestions *s);

#endif
