/* SPDX-License-Identifier: BSD-3-Clause */
/* Tracks: where what is done for one scope in this process is recorded, if anybody wants to know.
 */
#ifndef EVSPACE_TRACK_H
#define EVSPACE_TRACK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tree/clock.h"
#include "tree/op.h"
#include "tree/op-table.h"
#include "tree/tuple.h"

/** The run that monitors are: it is looked at as any other, and what looks at it is not recorded.
 */
#define TRACK_RUN "evspace"

struct track;

/** Something that was done: a tuple of the operation @op. */
struct trace {
	uint16_t op;	   /* OP_EVSPACE_... of ops.tab; it says which channel */
	uint16_t flags;	   /* TUPLE_FAILED: not all of it came in time */
	uint64_t since_ns; /* CLOCK_MONOTONIC; until now */
	uint64_t bytes;
	int32_t peer; /* gather: inputs, hop: the child's place, stage: its place in the chain */
	uint64_t wave;
};

/** Who records. Outlives its tracks. */
struct tracer {
	bool on; /* somebody wants it; changed by its owner alone */
	void (*write)(struct tracer *tracer, struct track *track, const struct trace *trace);
	/* Nothing more comes on this track. */
	void (*end)(struct tracer *tracer, struct track *track);
};

/** One scope's. All zero: it is never recorded. */
struct track {
	struct tracer *tracer;
	const char *view; /* the scope's; borrowed */
	/* the tracer's own */
	uint64_t recording; /* the how manyth one it has written to, 0: none */
	uint32_t thread;    /* what it is there */
	uint32_t comm;
};

/** Is it the monitors' run? */
static inline bool track_is_run(const char *run)
{
	return strcmp(run, TRACK_RUN) == 0;
}

/** A scope of @view (borrowed) over @run begins; @tracer may be NULL. */
static inline void track_init(struct track *track, struct tracer *tracer, const char *view,
			      const char *run)
{
	*track = (struct track){.tracer = track_is_run(run) ? NULL : tracer, .view = view};
}

static inline void track_fini(struct track *track)
{
	if (track->tracer)
		track->tracer->end(track->tracer, track);
}

/** Is it wanted now? @track may be NULL. */
static inline bool track_is_on(const struct track *track)
{
	return track && track->tracer && track->tracer->on;
}

/** When something begins that track_write() may be told of: 0 if nobody wants that. */
static inline uint64_t track_since(const struct track *track)
{
	return track_is_on(track) ? clock_mono_ns() : 0;
}

/** Something has ended; nothing is recorded if it began at 0. */
static inline void track_write(struct track *track, const struct trace *trace)
{
	if (trace->since_ns && track_is_on(track))
		track->tracer->write(track->tracer, track, trace);
}

#endif
