/* SPDX-License-Identifier: BSD-3-Clause */
/* A monitor: records what agents and consumers do themselves in a segment of a run of its own. */
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

/** Scopes that are recorded apart at the same time; what others do is counted, its tuples lost. */
#define MONITOR_SCOPES 8u

/** Whose monitor it is. Strings are copied. */
struct monitor_plan {
	const char *base;	 /* folder of all runs */
	int32_t process;	 /* PROCESS_AGENT or PROCESS_CONSUMER */
	const char *host;	 /* node whose agent shows it; NULL: the host's name */
	struct event_base *loop; /* NULL: it is never wanted and not wanted in turns */
	bool keep;		 /* what was recorded stays when it ends, as a program's does */
};

/** Records nothing until it is wanted. Aborts when memory is out. */
struct monitor *monitor_new(const struct monitor_plan *plan);

/** End recording. Its spans may not be used any more. NULL is fine. */
void monitor_free(struct monitor *monitor);

/** What scopes record with: it outlives them. */
struct tracer *monitor_tracer(struct monitor *monitor);

/**
 * One more who looks: make the segment if it is not there. Returns 0, or -1 with errno and @e if it
 * cannot be made (which segment_create() leaves word of, for the status); it is wanted all the
 * same.
 */
int monitor_want(struct monitor *monitor, struct error *e);

/**
 * One less. A second after the last one has gone the segment is removed; half a minute if his
 * connection was @lost, so that he finds what he has not read yet when he comes back.
 */
void monitor_unwant(struct monitor *monitor, bool lost);

#endif
