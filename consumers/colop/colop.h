/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of evspace colop: what it has found so far, and how it is told. */
#ifndef EVSPACE_COLOP_H
#define EVSPACE_COLOP_H

#include "consumers/analysis/crossing.h"
#include "consumers/analysis/lateness.h"
#include "consumers/analysis/evenness.h"
#include "consumers/colop/arrivals.h"
#include "consumers/colop/attendance.h"
#include "consumers/colop/counted.h"
#include "consumers/colop/instance.h"
#include "consumers/colop/messages.h"
#include "consumers/watch/follow.h"

/** Most of each kind that are told as text. */
#define COLOP_TOP_MOST 1000u

struct colop {
	struct follower follow;
	bool watch, check, suggest, apply, reduced, with_messages, into_failed;
	uint64_t max_spread_ns; /* 0: any */
	double least; /* share of the time of all processes that is worth a word; -1: not said */
	unsigned top; /* 0: not said */
	struct attendance *attendance;
	struct meetings *meetings;
	struct arrivals *arrivals; /* at these */
	struct meeting_sums *sums; /* instead, if reduced */
	uint64_t grouped;	   /* events of groups of PVM, which are not joined then */
	struct messages *messages; /* NULL: not wanted */
	struct counted *counted;   /* what is no event because of modes */
	struct evenness *evenness; /* whether the others are a fair sample */
	struct crossings *crossings;
	struct lateness *lateness;
	struct late_once *once; /* the costliest of those that were late once */
	size_t n_once;
	uint64_t all_once;
	const char *into; /* element for what is found; NULL: none */
	struct evspace_element *element;
	uint64_t put_ns, put_whole; /* when it was written, and by how many operations */
	const char *plot;	    /* file for its picture; NULL: none */
	struct instance instance;   /* the one to show, and nothing else; or none */
	uint64_t drawn_ns;
	bool redraw;
	unsigned passed; /* waves since a later one than the one to show has come */
};

/** What became of all operations. */
static inline const struct meetings_counts *colop_counts(const struct colop *colop)
{
	return colop->reduced ? meeting_sums_counts(colop->sums) : meetings_counts(colop->meetings);
}

/** Events of collectives that are in no operation (arrivals.h). */
struct arrivals_counts colop_left_out(const struct colop *colop);

/** The share of calls of collectives that are events. */
static inline double colop_recorded(const struct colop *colop, uint32_t comm)
{
	return counted_share(colop->counted, CHANNEL_COLLECTIVE, comm);
}

/** Is it known of all collectives which one was the one before, as the imbalance is since that? */
static inline bool colop_has_imbalance(const struct colop *colop, const struct lateness_class *of)
{
	return of->between_ns > 0 && colop_recorded(colop, 0) >= 1;
}

/** Calls for messages on @comm (0: all communicators) that are no events, so that those which are
 * cannot be matched by their order. */
static inline uint64_t colop_unmatched(const struct colop *colop, uint32_t comm)
{
	return counted_calls(colop->counted, CHANNEL_P2P, comm).skipped +
	       counted_calls(colop->counted, CHANNEL_COMPLETION, comm).skipped;
}

/** Of --reduced: what it joins, and take what is in a wave; returns whether anything was.
 * (reduced.c) */
struct meeting_sums *reduced_new(struct colop *colop);
bool reduced_take(struct colop *colop, attendance_members *members);

/** "rank 37 is late in MPI_Allreduce@world ...; costs 11 % of the run", which is @when.
 * (colop-text.c) */
void colop_say_often(const struct colop *colop, const struct late_often *often, const char *when,
		     FILE *out);

/** One line that says how call sites come to be known, if none is. (colop-text.c) */
void colop_say_sites(const struct colop *colop, FILE *out);

/** Of --into: make the element, if there is a run. Returns false after a message that it cannot be.
 * Write that a process was late once; and, at @now_ns (0: at the end), who is late often, once a
 * second. (colop-into.c) */
bool colop_into_begin(struct colop *colop);
void colop_into_once(const struct colop *colop, const struct late_once *late);
void colop_into_often(struct colop *colop, uint64_t now_ns);

/** Text: the table, and a sentence for each finding. (colop-text.c) */
void colop_show(const struct colop *colop, FILE *out);

/** "412 operations; 3 of them …", at the end. (colop-text.c) */
void colop_account(const struct colop *colop, FILE *out);

/** JSON: one that was late once, when it is found; and all else, at the end. (colop-json.c) */
void colop_json_once(const struct colop *colop, const struct late_once *late);
void colop_json_end(const struct colop *colop);

#endif
