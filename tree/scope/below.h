/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of a part of a tree, and checks whether answers speak for these alone. */
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

/** Plain data; place indexes in ascending order. */
struct below {
	uint32_t *leaves;
	size_t n;
	struct below_host *hosts; /* hosts of the leaves, in the same order */
	const char **nodes;	  /* their names, in order */
	size_t n_nodes;
	bool own;	  /* none of them fetches elements from others */
	uint32_t *places; /* places that may give out names there: all, and their stand-ins */
	size_t n_places;
};

/** Collect the places at @place and below it. Free with below_fini(). */
void below_init(struct below *below, const struct plan_place *place);
void below_fini(struct below *below);

/** Is this a leaf there? */
bool below_has(const struct below *below, uint32_t leaf);

/** Is @id a name id of one of the places? */
bool below_names(const struct below *below, uint32_t id);

/** May @name, whose id passed below_names(), have that text? It must name the node of the leaf with
 * the element, or of any leaf there; elements fetched from others have the names of these. */
bool below_spells(const struct below *below, const struct name *name);

/** May process @number be on the host that gave out the name @id? The map says where ranks are, but
 * not tasks. */
bool below_holds(const struct below *below, uint32_t id, int32_t number);

/**
 * Does @answer with @body speak only for leaves there? It must name each once, as missing or by one
 * part of the answered wave, and have as many as it says; its marks must be for its own parts, its
 * runs for elements there, or for groups in @names (of which another host may have been the first
 * to say the name). Returns 0, or -1 with EPROTO and @e.
 */
int below_check(const struct below *below, const struct names *names, const Evspace__Answer *answer,
		const struct batch *body, struct error *e);

#endif
