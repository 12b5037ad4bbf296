/* SPDX-License-Identifier: BSD-3-Clause */
/* Below: the places of a part of a tree, and whether what comes from there is of these. */
#ifndef EVSPACE_BELOW_H
#define EVSPACE_BELOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/plan/plan.h"
#include "tree/data/batch.h"
#include "tree/data/names.h"
#include "tree/wire/wire.h"

struct below_host;

/** Plain data; place indexes, from the lowest. */
struct below {
	uint32_t *leaves;
	size_t n;
	struct below_host *hosts; /* those of the leaves, in that order */
	const char **nodes;	  /* their names, in order */
	size_t n_nodes;
	bool own;	  /* none of them fetches elements from others */
	uint32_t *places; /* who may give out names there: all places, and their stand-ins */
	size_t n_places;
};

/** Find what is at @place and below it. below_fini() frees. */
void below_init(struct below *below, const struct plan_place *place);
void below_fini(struct below *below);

/** Is this a leaf there? */
bool below_has(const struct below *below, uint32_t leaf);

/** Has somebody there given out the name @id? */
bool below_names(const struct below *below, uint32_t id);

/** May @name, of an id that somebody there has given out, be called so: by the node of the leaf
 * that has the element, or of a leaf there? What is fetched from others bears their names. */
bool below_spells(const struct below *below, const struct name *name);

/** May process @number be one of the host that has given out the name @id? The map says where ranks
 * are, and nothing of tasks. */
bool below_holds(const struct below *below, uint32_t id, int32_t number);

/**
 * Does @answer with @body speak for leaves there alone: once for each, as missing or in one part of
 * the wave that it answers, as many as it says; in marks for parts of its own, in runs for elements
 * that are there, or for groups in
 * @names, of which somebody else may have been the first to say the name? Returns 0, or -1 with
 * EPROTO and @e.
 */
int below_check(const struct below *below, const struct names *names, const Evspace__Answer *answer,
		const struct batch *body, struct error *e);

#endif
