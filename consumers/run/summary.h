/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of a run: what was collected and what was not, what was slow, what it cost. */
#ifndef EVSPACE_SUMMARY_H
#define EVSPACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "node-agent/store/store.h"
#include "pathmap/model/hostlist.h"
#include "tree/scope/classes.h"
#include "tree/wire/wire.pb-c.h"

#define SUMMARY_SLOWEST 5
#define SUMMARY_STUCK	16

/** One process that was collected. */
struct summary_process {
	uint32_t world;
	int32_t world_size;
	int32_t rank;
	bool finished;	 /* MPI_Finalize has returned */
	bool died;	 /* it has ended without */
	bool inside;	 /* a thread was in an operation then */
	bool aborts;	 /* in MPI_Abort */
	int64_t last_ns; /* of what it has recorded, CLOCK_MONOTONIC; 0: nothing */
	char host[64];
};

/** One operation: of the backlog, or under way. */
struct summary_op {
	char name[64]; /* "rank3/t0" */
	struct tuple tuple;
	int64_t start_ns; /* since the run began */
	uint64_t duration_ns;
};

/** All of it. Plain data but for `processes` and `classes`, which summary_fini() frees. */
struct summary {
	struct summary_process *processes; /* by world and rank */
	size_t n_processes, alive;
	size_t worlds, expected; /* expected: sum of the worlds' sizes */
	uint64_t channel_events[CHANNEL_MAX];
	uint64_t channel_bytes[CHANNEL_MAX];
	uint64_t written;      /* tuples: kept + overwritten + overflowed */
	uint64_t kept;	       /* that the elements still hold */
	uint64_t overflowed;   /* for which no element had room */
	uint64_t inside, left; /* calls that are not on record (struct segment_header) */
	struct summary_op slowest[SUMMARY_SLOWEST];
	size_t n_slowest;
	struct summary_op stuck[SUMMARY_STUCK]; /* inside an operation when the program ended */
	size_t n_stuck, all_stuck;		/* on record here, and all */
	uint64_t cost_ns;			/* all events together */
	uint64_t life_ns;			/* all processes together, from MPI_Init on */
	uint32_t notes;				/* enum segment_note of all processes */
	char removed[128];	 /* runs that made way for the first that found no room */
	struct classes *classes; /* what all processes have counted */
};

/** When a run began and ended, on CLOCK_MONOTONIC. */
struct summary_span {
	uint64_t began_ns, ended_ns;
};

/**
 * Sum up what @store holds of @run. Operations under way are taken to have lasted to
 * span->ended_ns. summary_fini() frees it.
 */
void summary_init(struct summary *summary, const struct store *store, const char *run,
		  const struct summary_span *span);
void summary_fini(struct summary *summary);

/* ---- what the agents of other hosts hold, as the entry agent hears it from them ---- */

/** Their answers; zeroes: nobody was asked. */
struct elsewhere {
	Evspace__Frame *reply; /* NULL: there is no agent here, or it is no entry */
	const char *run;
};

/** Of one host. */
enum elsewhere_state {
	ELSEWHERE_UNKNOWN, /* it is not on the map, or there is none */
	ELSEWHERE_SILENT,  /* its agent has not answered */
	ELSEWHERE_HELD,	   /* its agent holds so many processes, or none */
};

/** Ask the agent of this host for all hosts of its map. elsewhere_fini() frees. @run is kept. */
void elsewhere_ask(struct elsewhere *elsewhere, const char *run);
void elsewhere_fini(struct elsewhere *elsewhere);

/** What is known of @host; *@processes that it holds, *@why it is silent (not NULL then). */
enum elsewhere_state elsewhere_of(const struct elsewhere *elsewhere, const char *host,
				  unsigned *processes, const char **why);

/** What only the one who started the program knows. */
struct summary_about {
	const char *run, *base;
	const char *why_none;	      /* nothing was collected, and this is probably why; or NULL */
	const struct hostlist *hosts; /* that ranks ought to be on; may be empty */
	struct elsewhere elsewhere;   /* what agents say of these */
	const struct store *store;    /* its refusals of the run are named */
	struct summary_span span;
	int exit_code;
	int signal; /* that ended it, 0: none */
	int told;   /* the signal by which the user told it to end, 0: none */
	bool stays; /* the segments are kept, and why: */
	const char *stays_why;
};

/** Print it for people. */
void summary_print(const struct summary *summary, const struct summary_about *about, FILE *out);

/** Print it as one JSON object ("schema": 1) on a line. */
void summary_json(const struct summary *summary, const struct summary_about *about, FILE *out);

/**
 * The ranks that ought to be there and are not, as "4-7, 9": of the @i-th world (0 …), "" when none
 * misses or there is no such world. *@count is how many. Returns text for the caller to free().
 */
char *summary_missing(const struct summary *summary, size_t i, size_t *count);

/**
 * The process that has probably died before the others, which are then ended by their launcher: who
 * called MPI_Abort, else who was in no operation, and of several the one that was heard of last the
 * longest ago. NULL: none has died, or that cannot be told.
 */
const struct summary_process *summary_died_first(const struct summary *summary);

/** Is a process of this rank missing: is there a world so large, and none of the rank in any? */
bool summary_lacks_rank(const struct summary *summary, int32_t rank);

/** Is @host (as a launcher names it) one that processes of the summary are on, or this host? */
bool summary_has_host(const struct summary *summary, const char *host);

#endif
