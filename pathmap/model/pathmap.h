/* SPDX-License-Identifier: BSD-3-Clause */
/* The pathmap: application, cluster and mapping map, checked against each other, immutable. */
#ifndef EVSPACE_PATHMAP_H
#define EVSPACE_PATHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pathmap/base/error.h"
#include "pathmap/model/view.h"

/** A checked pathmap. Opaque, immutable, freed with pathmap_free(). */
struct pathmap;
struct definable;

/**
 * Read and check DIR/application.map, cluster.map and mapping.map. All faults are written to
 * @diagnostics (NULL: nowhere) as "file:line:column: what was found; what would be right", each
 * with its line and a caret. @check may be NULL (stages are then not checked). Returns the pathmap,
 * or NULL with errno and a summary ("3 errors in DIR") in @e.
 */
struct pathmap *pathmap_load(const char *dir, pathmap_stage_check *check, FILE *diagnostics,
			     struct error *e);

/** One fault of a map file. */
struct pathmap_fault {
	const char *file;
	size_t line, column; /* from 1, in characters; 0: about the whole file */
	const char *text;    /* what was found; what would be right */
};

/** Called with each fault; @fault is valid until it returns. */
typedef void pathmap_report(const struct pathmap_fault *fault, void *arg);

/** The same as pathmap_load() for programs: calls @report with each fault and @arg. */
struct pathmap *pathmap_examine(const char *dir, pathmap_stage_check *check, pathmap_report *report,
				void *arg, struct error *e);

/** The pathmap of a machine without map files: one cluster "local" with one node @node that
 * holds all ranks, and the shipped views. @check as of pathmap_load(). Aborts when memory is out;
 * no other failure. */
struct pathmap *pathmap_local(const char *node, pathmap_stage_check *check);

/** Free a pathmap. NULL is fine. */
void pathmap_free(struct pathmap *map);

/** The program's name in the application map. */
const char *pathmap_application(const struct pathmap *map);

/** The number of ranks in the application map, 0 when it leaves that open. */
unsigned pathmap_ranks(const struct pathmap *map);

/** The application map's settings of a channel. Valid for elements that are made later. */
struct recording {
	bool collected;
	const char *element;	  /* what each of them is for: "thread", "comm", "op" or "site" */
	unsigned capacity;	  /* in tuples; 0: by free memory */
	uint64_t lifetime_ns;	  /* older tuples are discarded; 0: until overwritten */
	const char *mode;	  /* first mode: "trace", "time", "count", "sample" or "off" */
	char remote[64];	  /* node whose agent fetches them; "": none */
	unsigned remote_capacity; /* of its mirrors, in tuples */
	size_t remote_offset;	  /* of that statement in the map */
};

/** What `elements PATTERN { ... }` says of elements; later ones go before earlier ones. */
struct element_rule {
	char *pattern;	       /* of whole channels: nothing behind the channel's name */
	struct recording says; /* capacity, lifetime_ns, mode, remote, remote_capacity: 0, NULL and
				  "" if it does not */
	size_t offset;	       /* of the pattern in the map */
};

/** Most of these. */
#define ELEMENT_RULES_MAX 64u

/** All of them, in the order of the map. */
size_t pathmap_rules(const struct pathmap *map, const struct element_rule **rules);

/**
 * What the map says of the element @name, "/cluster/node/rank3/t0/p2p": of its @channel, and by the
 * rules that match it. Of a channel that is not collected nothing else counts.
 */
struct recording pathmap_element(const struct pathmap *map, const char *name, const char *channel);

/** What says of elements which node fetches them: from number *@i on, which becomes that of the
 * next one; NULL: no more. *@of: of which, a channel's name or the pattern of a rule. */
const struct recording *pathmap_remote(const struct pathmap *map, size_t *i, const char **of);

/** Does @node fetch any? */
bool pathmap_fetches(const struct pathmap *map, const char *node);

/** "PATTERN capacity 5000 lifetime 10 s mode count", for the caller to free(). */
char *element_rule_text(const struct element_rule *rule);

/** "ranks 0-7, of each the first 2 threads", "all ranks"; likewise. */
char *pathmap_only_text(const struct pathmap *map);

/** The ranks that are collected, "0-7,12", for the caller to free(), NULL: all; and how many
 * threads of each, 0: all. */
char *pathmap_only_ranks(const struct pathmap *map);
unsigned pathmap_only_threads(const struct pathmap *map);

/** Names of the channels, in the order of their numbers. */
size_t pathmap_channels(const char *const **names);

/** The recording of @channel ("p2p", "collective", ...), or NULL when it does not exist. */
const struct recording *pathmap_recording(const struct pathmap *map, const char *channel);

/** Print what is collected, channel by channel, to @out. */
void pathmap_print_recordings(const struct pathmap *map, FILE *out);

/** Does the mapping put @rank on @node? False if the mapping places no ranks. */
bool pathmap_rank_on(const struct pathmap *map, unsigned rank, const char *node);

/** The node that the mapping puts @rank on, or NULL when it does not say. */
const char *pathmap_rank_node(const struct pathmap *map, unsigned rank);

/** Does the mapping place ranks? If not, the node of a segment is that of its host's name. */
bool pathmap_places_ranks(const struct pathmap *map);

/** The listening address of @node, "host:port" ("" if none), or NULL when there is no such node. */
const char *pathmap_address(const struct pathmap *map, const char *node);

/** The cluster of @node ("" outside all clusters), or NULL when there is no such node. */
const char *pathmap_cluster(const struct pathmap *map, const char *node);

/** The entry node: where consumers connect and plans are made. */
const char *pathmap_entry(const struct pathmap *map);

/** Its line in the mapping. */
unsigned pathmap_entry_line(const struct pathmap *map);

/** Names of all nodes (of clusters, gateways and single ones), in the order of the map. */
size_t pathmap_nodes(const struct pathmap *map, const char *const **names);

/** Names of all views, in the order of the map. */
size_t pathmap_views(const struct pathmap *map, const char *const **names);

/** What all consumers of a run together may slow it down by; 0: anything. */
double pathmap_budget(const struct pathmap *map);

/** What the map lets consumers define (pathmap/model/definable.h). */
const struct definable *pathmap_definable(const struct pathmap *map);

/** The view of the map, or the shipped one, with this name; NULL: there is none. */
const struct view *pathmap_view(const struct pathmap *map, const char *name);

#endif
