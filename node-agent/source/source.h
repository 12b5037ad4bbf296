/* SPDX-License-Identifier: BSD-3-Clause */
/* The source stage: reads a node's elements from their segments, the newest tuple or all since
 * (docs/architecture.md). */
#ifndef EVSPACE_SOURCE_H
#define EVSPACE_SOURCE_H

#include <errno.h>
#include <stdbool.h>

#include "node-agent/store/shelf.h"
#include "node-agent/source/site.h"
#include "node-agent/store/store.h"
#include "tree/data/clock.h"
#include "tree/stage/stage.h"
#include "tree/wire/wire.h"

/** The errno of a place that contradicts where ranks are; used for nothing else. */
#define SOURCE_ELSEWHERE EXDEV

struct rate_limit;
struct rows;
LIST_HEAD(rows_list, rows);

/** What all sources of an agent share. */
struct source_host {
	struct store *store;
	const char *node;
	const struct pathmap *map; /* this agent's own, for what it says of recording */
	bool placed;		   /* it says which ranks are here: */
	char *holds;		   /* as a list */
	int64_t epoch_ns;	   /* event-space time at CLOCK_MONOTONIC 0 */
	struct sites *sites;	   /* that were resolved for names */
	struct rows_list *fetched; /* what other nodes fetch at present */
	struct rows_list *streams; /* all that is read as a stream; NULL: nothing is told of files
				      that go */
	struct shelf *shelf;	   /* of cursor files; NULL: those that were left all stay */
	struct rate_limit *said;   /* of what cannot be kept or read; NULL: nothing is said */
	struct clock_host *clock;  /* the agent's; look at it by source_clock() */
};

/**
 * A source for @place over the run that @open names (empty: the only live run, when there is one):
 * those elements of the node whose names match one of open->select. It takes in new processes,
 * threads and channels as they come.
 * @host and @open outlive it. Returns NULL with errno and @e.
 */
struct stage *source_new(const struct source_host *host, const Evspace__Open *open,
			 const struct plan_place *place, struct names *names, struct error *e);

/**
 * Read by @place from now on, of the same node, which the source's goes with (rows_replace()).
 * @place outlives it.
 */
void source_replace(struct stage *source, const struct plan_place *place);

/** Free it; @keep: its cursor file stays. */
void source_free(struct stage *source, bool keep);

/**
 * Does this node hold the segment's process, going by @place (NULL: by its own map)? By the list of
 * ranks where there is one, else by the host's name.
 */
bool source_holds(const struct source_host *host, const struct plan_place *place,
		  const struct store_segment *s);

/**
 * Ranks are where the program put them, whatever maps say: does the other map that @place names
 * (holding_compare()) have one on another node whose process lives here, or is read here by an open
 * stream? Returns 0, or -1 with SOURCE_ELSEWHERE and @e.
 */
int source_check(const struct source_host *host, const Evspace__Open *open,
		 const struct plan_place *place, struct error *e);

/** How many processes of @run that may be on this node are not collected, or have files that are no
 * good. */
uint32_t source_unreadable(const struct source_host *host, const struct plan_place *place,
			   const char *run);

/** Say it on stderr, but not too much in all. */
void source_log(const struct source_host *host, const struct error *e);

/** The host's clock now. When the host has been suspended it begins anew, and that is said. */
const struct clock_host *source_clock(const struct source_host *host);

/** @s is of the same ticks as the agent, so that its pair can be one of a line. */
bool source_ticks_alike(const struct store_segment *s);

/** The line of @s's own clock, by its first pair and one of now. */
struct clock_line source_line(const struct source_host *host, const struct store_segment *s);

/** The path of the socket on which @node's agent serves @store's event space. */
#define SOURCE_SOCKET 250
void source_socket(const struct store *store, const char *node, char *path);

/** The node that fetches what the channel's elements here hold, or NULL: they are read here. */
const char *source_remote(const struct source_host *host, const struct segment_element *e);

/** Does one of the @n patterns match the element name @name? */
bool source_selects(char *const *patterns, size_t n, const char *name);

/**
 * The source of views that read counts, for @place as source_new() makes them: what each thread has
 * counted in each class of operations, exact and cumulative, so that it needs no cursors; a run of
 * RUN_COUNTS for each thread and channel that has counted something, named like the element that
 * the thread has for the channel.
 */
struct stage *counter_new(const struct source_host *host, const Evspace__Open *open,
			  const struct plan_place *place, struct names *names, struct error *e);

/** Go by @place from now on, of the same node; it outlives the stage. */
void counter_replace(struct stage *stage, const struct plan_place *place);

#endif
