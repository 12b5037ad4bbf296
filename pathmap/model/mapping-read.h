/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading mapping.map: what its files need of each other. */
#ifndef EVSPACE_MAPPING_READ_H
#define EVSPACE_MAPPING_READ_H

#include "pathmap/grammar/directive.h"
#include "pathmap/model/mapping.h"

/** What is made, and what it is checked against: reader->map. */
struct mapping_reading {
	struct mapping *mapping;
	const struct application *application;
	const struct cluster_map *clusters;
	bool has_entry;	      /* it says one, right or wrong */
	size_t n_places;      /* how many times it says `place` */
	size_t place_offset;  /* of its first `place` */
	size_t *rank_offsets; /* where the map places each rank, as many as ranks */
};

/** `place RANKS on NODES [by N | cyclic];` into the mapping @target. */
void place_apply(struct reader *reader, void *target, const struct statement *statement);

/** `tree SHAPE;` or `tree by-hand { ... }` into the tree @target. */
void tree_apply(struct reader *reader, void *target, const struct statement *statement);

/** `cluster on NODE;` into the tree @target. */
void head_apply(struct reader *reader, void *target, const struct statement *statement);

/** `stages LEVEL... at LEVEL;`, `concurrency N;` and `alternate NODES for NODES;`. */
void stages_apply(struct reader *reader, void *target, const struct statement *statement);
void concurrency_apply(struct reader *reader, void *target, const struct statement *statement);
void alternate_apply(struct reader *reader, void *target, const struct statement *statement);

/**
 * The node named @name. Returns NULL when there is none; complains of @word then, unless that may
 * be a consequence of what is wrong in the cluster map.
 */
const struct node *mapped_node(struct reader *reader, const struct word *word, const char *name);

/**
 * Append the nodes that the words from @from to before @to stand for to the array *@nodes of *@n,
 * grown by memory_room(). Returns whether all are right.
 */
bool mapped_nodes(struct reader *reader, const struct word *from, const struct word *to,
		  const struct node ***nodes, size_t *n);

#endif
