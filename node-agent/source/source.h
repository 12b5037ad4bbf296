/* SPDX-License-Identifier: BSD-3-Clause */
/* The source stage: reads a node's elements from their segments, the newest tuple or all since
 * the last wave (docs/architecture.md). */
#ifndef EVSPACE_SOURCE_H
#define EVSPACE_SOURCE_H

#include <errno.h>
#include <stdbool.h>

#include "node-agent/store/shelf.h"
#include "node-agent/source/site.h"
#include "node-agent/store/store.h"
#include "tree/data/clock-host.h"
#include "tree/stage/stage.h"
#include "tree/wire/wire.h"

/** The errno of a place that contradicts where ranks are, and of nothing else. */
#define SOURCE_ELSEWHERE EXDEV

struct pastset_header;
struct rate_limit;
struct sampler;
struct rows;
LIST_HEAD(rows_list, rows);

/** What all sources of an agent share. */
struct source_host {
	struct store *store;
	const char *node;
	const struct pathmap *map; /* this agent's own, for its settings of recording */
	bool placed;		   /* it lists which ranks are here: */
	char *holds;		   /* the list */
	int64_t epoch_ns;	   /* event-space time at CLOCK_MONOTONIC 0 */
	struct sites *sites;	   /* call sites for names */
	struct rows_list *fetched; /* what other nodes fetch at present */
	struct rows_list *streams; /* all open streams; NULL: removed files are not reported */
	struct sampler *sampler;   /* the agent's; NULL: none */
	struct shelf *shelf;	   /* of cursor files; NULL: left files are not limited */
	struct rate_limit
		*said; /* of messages about what cannot be kept or read; NULL: there are none */
	struct clock_host *clock; /* the agent's; use source_clock() */
};

/**
 * A source for @place over the run that @open names (empty: the only live run, if there is one):
 * the elements of the node whose names match one of open->select, also those of new processes,
 * threads and channels. @host and @open must outlive it. Returns NULL with errno and @e.
 */
struct stage *source_new(const struct source_host *host, const Evspace__Open *open,
			 const struct plan_place *place, struct names *names, struct error *e);

/** Use @place of the same node from now on (rows_replace()). @place must outlive the source. */
void source_replace(struct stage *source, const struct plan_place *place);

/** Free it; @keep: its cursor file stays. */
void source_free(struct stage *source, bool keep);

/** Does this node hold the segment's process, by @place (NULL: by its own map)? Decided by the
 * list of ranks if there is one, else by the host's name. */
bool source_holds(const struct source_host *host, const struct plan_place *place,
		  const struct store_segment *s);

/** Elements of programs are shown by one of the agents that share their folder: is this the first
 * one of those whose nodes hold ranks? */
bool source_is_first(const struct source_host *host);

/** Does this node show the element of which @said is the header, by @place? That of the map's node
 * for it does, or that of the rank that has made it; if nobody knows, or it shares no folder with
 * these, the @first one (source_is_first()). If the place lists no ranks, all do, as they do with
 * processes. */
bool source_shows(const struct source_host *host, const struct plan_place *place,
		  const struct pastset_header *said, bool first);

/**
 * Maps cannot move ranks. Does the other map that @place names (holding_compare()) have a rank on
 * another node, although its process lives here or an open stream reads it here? Returns 0, or -1
 * with SOURCE_ELSEWHERE and @e.
 */
int source_check(const struct source_host *host, const Evspace__Open *open,
		 const struct plan_place *place, struct error *e);

/** The number of processes of @run, possibly of this node, that are not collected or have files
 * that are not valid. */
uint32_t source_unreadable(const struct source_host *host, const struct plan_place *place,
			   const char *run);

/** Print it on stderr, within the rate limit. */
void source_log(const struct source_host *host, const struct error *e);

/** The host's clock now. After a suspend of the host it starts anew, and a message says so. */
const struct clock_host *source_clock(const struct source_host *host);

/** Does @s have the same ticks as the agent, so that its pair can be used for a clock line? */
bool source_ticks_alike(const struct store_segment *s);

/** The clock line of @s, by its first pair and one of now. */
struct clock_line source_line(const struct source_host *host, const struct store_segment *s);

/** The path of the socket on which @node's agent serves @store's event space. */
#define SOURCE_SOCKET 250
void source_socket(const struct store *store, const char *node, char *path);

/** Does another node fetch the element from here? Writes its name; else it is read here. */
#define SOURCE_NODE 64
bool source_remote(const struct source_host *host, const struct store_segment *s,
		   const struct segment_element *e, char node[SOURCE_NODE]);

/** Does one of the @n patterns match the element name @name? */
bool source_selects(char *const *patterns, size_t n, const char *name);

/**
 * The source of views that read counts, for @place, like source_new(): what each thread has counted
 * in each class of operations. Counts are exact and cumulative, so there are no cursors. Each
 * thread and channel with counts is a run of RUN_COUNTS, named like the thread's element of the
 * channel.
 */
struct stage *counter_new(const struct source_host *host, const Evspace__Open *open,
			  const struct plan_place *place, struct names *names, struct error *e);

/** Use @place of the same node from now on; it must outlive the stage. */
void counter_replace(struct stage *stage, const struct plan_place *place);

#endif
