/* SPDX-License-Identifier: BSD-3-Clause */
/* What evspace phase is asked for and has found, and how it is printed. */
#ifndef EVSPACE_PHASE_H
#define EVSPACE_PHASE_H

#include "consumers/keep/progress.h"
#include "consumers/phase/blocks-of-events.h"
#include "consumers/phase/execution.h"
#include "consumers/phase/points.h"
#include "consumers/phase/unordered.h"
#include "consumers/watch/follow.h"

struct phase_watch;

/** Room for the text of a block. */
#define PHASE_BLOCK 200

/** Components of a matrix of processes. */
struct phase_components {
	double variance[POINTS_COMPONENTS], total;
	double *vectors; /* so many for each process; NULL: there are none */
	unsigned n;
	struct coincidence_apart *apart; /* by process; NULL: that is not known */
};

struct phase {
	struct follower follow; /* of a live run */
	struct block_making *making;
	bool came; /* something of it */
	const char *file, *subset, *points, *plot;
	const char *now; /* the view of what is now; NULL: all that was */
	bool watch;
	const char *span; /* NULL: as usual */
	/* what looks at each wave that has come; NULL: nothing */
	void (*on_wave)(struct phase_watch *w);
	struct phase_watch *watching;
	const char *from[BLOCKS_OF_EVENTS_RUNS]; /* archives */
	unsigned n_from;
	struct block_sites sites; /* of an archive */
	const char *normalise;	  /* NULL: both */
	unsigned blocks, processes, scan;
	unsigned start;
	uint32_t base; /* the lowest block's number */
	double last;   /* the time of the last entry of a run, the longest one */
	uint64_t entries;
	struct read_progress progress;
	struct execution_shape shape;
	struct unordered unordered; /* if times have bounds, when the execution is read */
	bool *in_subset;
	struct phase_components states, alike; /* of the states, and of who is where others are */
};

/** Is it said what to read, and does each option mean something there? Returns 1 for a live run, 0
 * for what is on disk, or -1 with @e. (phase-source.c) */
int phase_source_check(const struct phase *p, struct error *e);

/** Follow a live run until its end, or as options say, and keep its blocks in @p->making. Returns
 * the exit code. (phase-live.c) */
int phase_live(struct phase *p, const char *command);

/** Take --now, and show where processes are at each look. (phase-now.c) */
int phase_now_take(void *into, const char *value, struct error *e);
int phase_now(struct phase *p, const char *command);

/** Say what changes in a run, or an archive. Returns 0 with the exit code, or -1 with @e.
 * (phase-watch.c) */
int phase_watch_run(struct phase *p, const char *command, int *code, struct error *e);

/** The same of what @in has, whose shape is known. Returns 0, or -1 with @e. */
int phase_watch_file(struct phase *p, struct entries *in, struct error *e);

/** Make p->in_subset of what --subset says, by the processes in the shape. Returns 0, or -1 with
 * @e. (phase-subset.c) */
int phase_subset_read(struct phase *p, struct error *e);

/** What happens in @block, as call sites say. (phase-print.c) */
void phase_block_text(const struct phase *p, uint32_t block, char text[PHASE_BLOCK]);

/** Print what there is, as --json says. (phase-print.c) */
void phase_states_print(const struct phase *p, const struct execution *x);
void phase_sites_print(const struct phase *p);
void phase_unordered_print(const struct phase *p);
void phase_entropies_print(const struct phase *p, const struct execution *x);
void phase_components_print(const struct phase *p);
void phase_clumps_print(const struct phase *p, struct execution *x);
void phase_elsewhere_print(const struct phase *p, struct execution *x);
void phase_scan_print(const struct phase *p, struct execution *x);

#endif
