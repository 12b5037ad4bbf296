/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of a run: what was collected and what was not, what was slow, what it cost. */
#ifndef EVSPACE_SUMMARY_H
#define EVSPACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "node-agent/store/store.h"
#include "pathmap/base/interval.h"
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
	bool died;	 /* it ended without MPI_Finalize */
	bool inside;	 /* a thread was in an operation then */
	bool aborts;	 /* in MPI_Abort */
	int64_t last_ns; /* of its last record, CLOCK_MONOTONIC; 0: none */
	char host[64];
};

/** One operation, complete or under way. */
struct summary_op {
	char name[64]; /* "rank3/t0" */
	struct tuple tuple;
	int64_t start_ns; /* since the run began */
	uint64_t duration_ns;
};

/** The whole summary. Plain data except for `processes` and `classes`; summary_fini() frees. */
struct summary {
	struct summary_process *processes; /* by world and rank */
	size_t n_processes, alive;
	size_t worlds, expected;	      /* expected: sum of the worlds' sizes */
	uint64_t channel_events[CHANNEL_MAX]; /* recorded */
	uint64_t channel_calls[CHANNEL_MAX];  /* all: recorded or not */
	uint64_t channel_bytes[CHANNEL_MAX];  /* of all calls */
	uint64_t polls;			      /* that found nothing: no calls of any class */
	uint64_t written;      /* tuples: kept + discarded + overwritten + overflowed */
	uint64_t kept;	       /* still in the elements */
	uint64_t discarded;    /* on request, or by their lifetime */
	uint64_t overflowed;   /* had no element */
	uint64_t inside, left; /* calls that were not recorded (struct segment_header) */
	struct summary_op slowest[SUMMARY_SLOWEST];
	size_t n_slowest;
	struct summary_op stuck[SUMMARY_STUCK]; /* inside an operation when the program ended */
	size_t n_stuck, all_stuck;		/* those listed here, and all */
	uint64_t cost_ns;			/* all events together */
	uint64_t life_ns;			/* all processes together, from MPI_Init on */
	uint32_t notes;				/* enum segment_note of all processes */
	char removed[128];	      /* runs that were removed for the first process that found no
				       * room */
	struct classes *classes;      /* counts of all processes */
	struct interval_set unwanted; /* ranks that are not to be collected */
	struct interval_set refused;  /* ranks that were not, for another reason */
};

/** When a run began and ended, on CLOCK_MONOTONIC. */
struct summary_span {
	uint64_t began_ns, ended_ns;
};

/** Sum up what @store holds of @run. Operations under way count as lasting to span->ended_ns.
 * summary_fini() frees it. */
void summary_init(struct summary *summary, const struct store *store, const char *run,
		  const struct summary_span *span);
void summary_fini(struct summary *summary);

/* ---- what the agents of other hosts hold, by way of the entry agent ---- */

/** Their answers; zeroed: nobody was asked. */
struct elsewhere {
	Evspace__Frame *reply; /* NULL: there is no agent here, or it is not an entry */
	const char *run;
};

/** What is known of one host. */
enum elsewhere_state {
	ELSEWHERE_UNKNOWN, /* it is not on the map, or there is no map */
	ELSEWHERE_SILENT,  /* its agent has not answered */
	ELSEWHERE_HELD,	   /* its agent says how many processes it holds */
};

/** Ask this host's agent about all hosts of its map. Borrows @run. elsewhere_fini() frees. */
void elsewhere_ask(struct elsewhere *elsewhere, const char *run);
void elsewhere_fini(struct elsewhere *elsewhere);

/** What is known of @host; sets *@processes that it holds, and *@why it is silent (if it is). */
enum elsewhere_state elsewhere_of(const struct elsewhere *elsewhere, const char *host,
				  unsigned *processes, const char **why);

/** What only `evspace run` knows. */
struct summary_about {
	const char *run, *base;
	const char *why_none;	      /* probable reason why nothing was collected; or NULL */
	const struct hostlist *hosts; /* that ranks should be on; may be empty */
	struct elsewhere elsewhere;   /* what agents say of these */
	const struct store *store;    /* to name its refusals of the run */
	const char *ranks;	      /* that are to be collected, as a list; NULL: all */
	struct summary_span span;
	int exit_code;
	int signal; /* that ended it, 0: none */
	int told;   /* the signal by which the user ended it, 0: none */
	bool stays; /* the segments are kept, because: */
	const char *stays_why;
};

/** Print it for people. */
void summary_print(const struct summary *summary, const struct summary_about *about, FILE *out);

/** Print it as one JSON object ("schema": 1) on a line. */
void summary_json(const struct summary *summary, const struct summary_about *about, FILE *out);

/** The missing ranks of the @i-th world (0 …) that are to be collected, as "4-7, 9", "" if none
 * is missing or there is no such world. *@count is their number. Returns text for the caller to
 * free(). */
char *summary_missing(const struct summary *summary, size_t i, size_t *count);

/**
 * The process that probably died first, after which the launcher ended the others: one that called
 * MPI_Abort, else one that was in no operation; of several the one whose last record is oldest.
 * NULL: none died, or it is unknown.
 */
const struct summary_process *summary_died_first(const struct summary *summary);

/** Is a process of this rank missing: is there a world with that many ranks, none has it, and it is
 * to be collected? */
bool summary_lacks_rank(const struct summary *summary, int32_t rank);

/** Is @host (as a launcher names it) a host of the summary's processes, or this host? */
bool summary_has_host(const struct summary *summary, const char *host);

#endif
