/* SPDX-License-Identifier: BSD-3-Clause */
/* A monitor: records what an agent or a consumer does, as a segment of run `evspace`. */
#ifndef EVSPACE_MONITOR_H
#define EVSPACE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/data/span.h"

struct event_base;
struct monitor;

/** Tuples that each of its elements holds, unless $EVSPACE_MONITOR_CAPACITY says otherwise. */
#define MONITOR_CAPACITY 100u

/** Scopes that can be recorded at the same time; those of others are counted, their tuples lost. */
#define MONITOR_SCOPES 8u

/** The owner of a monitor. Strings are copied. */
struct monitor_plan {
	const char *base;	 /* folder of all runs */
	int32_t process;	 /* PROCESS_AGENT or PROCESS_CONSUMER */
	const char *host;	 /* node whose agent reads it; NULL: the host's name */
	struct event_base *loop; /* may be NULL if monitor_unwant() is not called */
	bool keep;		 /* the segment stays when it ends, as a program's does */
};

/** Records nothing before monitor_want(). Aborts when memory is out. */
struct monitor *monitor_new(const struct monitor_plan *plan);

/** End recording. Its spans must not be used any more. NULL is fine. */
void monitor_free(struct monitor *monitor);

/** The tracer that scopes record with; the monitor must outlive them. */
struct tracer *monitor_tracer(struct monitor *monitor);

/** Add a reader, and make the segment if it is missing. Returns 0, or -1 with errno and @e if it
 * cannot be made (segment_create() notes that for the status); the reader counts all the same. */
int monitor_want(struct monitor *monitor, struct error *e);

/** Remove a reader. The segment is removed a second after the last one has gone, or half a
 * minute if its connection was @lost, so that it can come back and read the rest. */
void monitor_unwant(struct monitor *monitor, bool lost);

#endif
