/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the files that read mapping.map. */
#ifndef EVSPACE_MAPPING_READ_H
#define EVSPACE_MAPPING_READ_H

#include "pathmap/grammar/directive.h"
#include "pathmap/model/mapping.h"

/** The blocks of a mapping. */
enum mapping_context { IN_MAP, IN_VIEW, IN_STEER };

/** The mapping being made, and the maps to check it against: reader->map. */
struct mapping_reading {
	struct mapping *mapping;
	const struct application *application;
	const struct cluster_map *clusters;
	bool has_entry;	      /* there is one, valid or not */
	size_t n_places;      /* number of `place` statements */
	size_t place_offset;  /* of the first `place` */
	size_t *rank_offsets; /* where the map places each rank, by rank */
};

/** `place RANKS on NODES [by N | cyclic];` into the mapping; its target is the tree of all views.
 */
void place_apply(struct reader *reader, void *target, const struct statement *statement);

/** `tree SHAPE;` or `tree by-hand { ... }` into the tree @target. */
void tree_apply(struct reader *reader, void *target, const struct statement *statement);

/** `cluster on NODE;` into the tree @target. */
void head_apply(struct reader *reader, void *target, const struct statement *statement);

/** `stages LEVEL... at LEVEL;`, `concurrency N;` and `alternate NODES for NODES;`. */
void stages_apply(struct reader *reader, void *target, const struct statement *statement);
void concurrency_apply(struct reader *reader, void *target, const struct statement *statement);
void alternate_apply(struct reader *reader, void *target, const struct statement *statement);

/** `steer OPERATION... { ... }` into the mapping, and what may be in it into a struct steering:
 * `along VIEW;`, `communicator world;`, `bytes at most SIZE;`, `in order;`, `lead RANKS;`. */
void steer_apply(struct reader *reader, void *target, const struct statement *statement);
void steer_along_apply(struct reader *reader, void *target, const struct statement *statement);
void steer_communicator_apply(struct reader *reader, void *target,
			      const struct statement *statement);
void steer_bytes_apply(struct reader *reader, void *target, const struct statement *statement);
void steer_order_apply(struct reader *reader, void *target, const struct statement *statement);
void steer_collect_apply(struct reader *reader, void *target, const struct statement *statement);
void steer_lead_apply(struct reader *reader, void *target, const struct statement *statement);

/** The node named @name, or NULL, with a diagnostic about @word unless faults of the cluster map
 * may be the cause. */
const struct node *mapped_node(struct reader *reader, const struct word *word, const char *name);

/** Append the nodes of the words from @from up to @to (exclusive) to the array *@nodes of *@n,
 * grown by memory_room(). Returns whether all are valid. */
bool mapped_nodes(struct reader *reader, const struct word *from, const struct word *to,
		  const struct node ***nodes, size_t *n);

#endif
