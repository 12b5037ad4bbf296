/* SPDX-License-Identifier: BSD-3-Clause */
/* What evspace phase is asked for and has found, and how it is printed. */
#ifndef EVSPACE_PHASE_H
#define EVSPACE_PHASE_H

#include "consumers/phase/blocks-of-events.h"
#include "consumers/phase/execution.h"
#include "consumers/phase/points.h"
#include "consumers/watch/follow.h"

struct phase {
	struct follower follow; /* of a live run */
	struct block_making *making;
	bool came; /* something of it */
	const char *file, *subset, *points, *plot;
	const char *from[BLOCKS_OF_EVENTS_RUNS]; /* archives */
	unsigned n_from;
	struct block_sites sites; /* of an archive */
	const char *normalise;	  /* NULL: both */
	unsigned blocks, processes, scan;
	unsigned start;
	uint32_t base; /* the lowest block's number */
	struct execution_shape shape;
	bool *in_subset;
	double variance[POINTS_COMPONENTS], total;
	double *vectors; /* COMPONENTS times as many as processes; NULL: no components */
	unsigned n_components;
};

/** Follow a live run until its end, or as options say, and keep its blocks in @p->making. Returns
 * the exit code. (phase-live.c) */
int phase_live(struct phase *p, const char *command);

/** Print what there is, as --json says. (phase-print.c) */
void phase_states_print(const struct phase *p, const struct execution *x);
void phase_sites_print(const struct phase *p);
void phase_entropies_print(const struct phase *p, const struct execution *x);
void phase_components_print(const struct phase *p);
void phase_clumps_print(const struct phase *p, struct execution *x);
void phase_scan_print(const struct phase *p, struct execution *x);

#endif
