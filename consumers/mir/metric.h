/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue of metrics: what each is, of what it is made, what it costs. */
#ifndef EVSPACE_METRIC_H
#define EVSPACE_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** What a metric is of the events that it is made of. */
enum metric_what {
	METRIC_DURATION, /* the time in them, in ms */
	METRIC_BYTES,
	METRIC_CALLS,
	METRIC_THREADS, /* of no events: threads that there are */
	/* likewise; what the kernel says of a thread: */
	METRIC_RAN,	 /* time on processors, in ms */
	METRIC_BLOCKS,	 /* how often it has left one to wait */
	METRIC_BLOCKED,	 /* time that it was neither on one nor ready for one, in ms */
	METRIC_SWITCHES, /* how often it has left one at all */
	METRIC_FAULTS,	 /* its page faults */
	/* and of a process: */
	METRIC_ANONYMOUS, /* resident memory of its own, in bytes */
	METRIC_FILES,	  /* the rest of it */
	/* in the order of enum hardware_event: */
	METRIC_CYCLES,
	METRIC_INSTRUCTIONS,
	METRIC_CACHE_MISSES,
	METRIC_MIGRATIONS,
	METRIC_NONE, /* it is not measured */
};

/** Most kinds of events that a metric is made of. */
#define METRIC_PARTS 2

/** Some events: calls of operations, or completions of their requests. */
struct metric_part {
	const char *ops; /* "MPI_Send|MPI_Isend"; NULL: all, "": none */
	bool completions;
};

struct metric {
	const char *name, *unit;
	enum metric_what what;
	struct metric_part parts[METRIC_PARTS];
	unsigned n_parts;  /* that it is made of: none of what the kernel says */
	bool regions;	   /* a region has to be said */
	const char *about; /* what it is and of what it is made; or why it is not */
	const char *cost;
};

/** Does the kernel say it? */
bool metric_is_used(const struct metric *metric);

/** Is it said of processes alone, and not of their threads? */
bool metric_is_of_processes(const struct metric *metric);

/** Is it that of a counter, which counts while somebody asks? */
bool metric_is_counted(const struct metric *metric);

/** Does it grow, so that a probe has what it has grown by? */
bool metric_grows(const struct metric *metric);

/** The metric with that name, or NULL. */
const struct metric *metric_find(const char *name);

/** Those that are measured, by name, "A, B and C", for messages. */
const char *metric_names(void);

/** Write them all, a line each: name, unit, what it is, of what, its cost. */
void metric_catalogue(FILE *out);

#endif
