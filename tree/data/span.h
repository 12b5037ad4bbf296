/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans: record what is done for a scope in this process, while somebody looks. */
#ifndef EVSPACE_SPAN_H
#define EVSPACE_SPAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tree/data/clock.h"
#include "tree/data/op.h"
#include "tree/data/op-table.h"
#include "tree/data/tuple.h"

/** The run of monitors. It is looked at as any other; scopes over it are not recorded. */
#define SPAN_RUN "evspace"

struct span;

/** Something that was done: a tuple of the operation @op. */
struct trace {
	uint16_t op;	   /* OP_EVSPACE_... of ops.tab, which determines the channel */
	uint16_t flags;	   /* TUPLE_FAILED: not all of it came in time */
	uint64_t since_ns; /* CLOCK_MONOTONIC at the start; the end is now */
	uint64_t bytes;
	int32_t peer; /* gather: inputs; hop: the child's place; stage: its place in the chain */
	uint64_t wave;
};

/** Records spans. Outlives them. */
struct tracer {
	bool on; /* somebody looks; changed by its owner alone */
	void (*write)(struct tracer *tracer, struct span *span, const struct trace *trace);
	/* @span ends. */
	void (*end)(struct tracer *tracer, struct span *span);
};

/** The span of one scope. All zero: never recorded. */
struct span {
	struct tracer *tracer;
	const char *view; /* the scope's; borrowed */
	/* for the tracer: */
	uint64_t recording; /* serial of the recording that it wrote to last, 0: none */
	uint32_t thread;    /* its number in that */
	uint32_t comm;
};

/** Is it the monitors' run? */
static inline bool span_is_run(const char *run)
{
	return strcmp(run, SPAN_RUN) == 0;
}

/** A scope of @view (borrowed) over @run begins; @tracer may be NULL. */
static inline void span_init(struct span *span, struct tracer *tracer, const char *view,
			     const char *run)
{
	*span = (struct span){.tracer = span_is_run(run) ? NULL : tracer, .view = view};
}

static inline void span_fini(struct span *span)
{
	if (span->tracer)
		span->tracer->end(span->tracer, span);
}

/** Is anything recorded now? @span may be NULL. */
static inline bool span_is_on(const struct span *span)
{
	return span && span->tracer && span->tracer->on;
}

/** The start of something for span_write(), 0 if nothing is recorded. */
static inline uint64_t span_since(const struct span *span)
{
	return span_is_on(span) ? clock_mono_ns() : 0;
}

/** Record something that has just ended, unless it began at 0. */
static inline void span_write(struct span *span, const struct trace *trace)
{
	if (trace->since_ns && span_is_on(span))
		span->tracer->write(span->tracer, span, trace);
}

#endif
