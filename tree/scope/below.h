/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of a part of a tree; checks whether answers, and what they say that names stand for
 * (hearsay), are of these alone. */
#ifndef EVSPACE_BELOW_H
#define EVSPACE_BELOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
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
	bool folds;   /* answers may have folded parts, as that was asked for; false at first */
	bool sampled; /* likewise, parts may say what was sampled out */
};

/** Collect the places at @place and below it. Free with below_fini(). */
void below_init(struct below *below, const struct plan_place *place);
void below_fini(struct below *below);

/** Is this a leaf there? */
bool below_has(const struct below *below, uint32_t leaf);

/** The position of the first leaf there that is not below @index, their number if there is none. */
size_t below_first(const struct below *below, uint32_t index);

/** Is @id a name id of one of the places? */
bool below_names(const struct below *below, uint32_t id);

/** Are these @count places from @from on all there? (Not their stand-ins.) */
bool below_places(const struct below *below, uint32_t from, uint32_t count);

/** May @name, whose id passed below_names(), have that text? It must name the node of the leaf with
 * the element, or of any leaf there; elements fetched from others have the names of these. */
bool below_spells(const struct below *below, const struct name *name);

/** What an answer has said as far as it was checked. Plain data, zeroed before it begins. */
struct below_spoken {
	const struct below *below;
	const Evspace__Answer *answer;
	bool *of;	 /* by leaf: it was spoken for; NULL: nothing was checked */
	bool few[64];	 /* where that is, of few leaves */
	uint32_t leaves; /* leaves with a part */
	size_t parts;	 /* since the last mark */
	uint32_t good;	 /* index of the last place + 1: runs come place by place */
	struct batch_cursor at;
};

/**
 * Does @answer with @body speak only for leaves there? It must name each once, as missing or by one
 * part of the answered wave, and have as many as it says; its marks must be for its own parts, its
 * runs for elements there, or for groups in @names (of which another host may have been the first
 * to say the name). Returns 0; 1 at @until_ns (CLOCK_MONOTONIC), to be called again with the same;
 * or -1 with EPROTO and @e. Zeroes @spoken unless that is 1.
 */
int below_check(const struct below *below, struct below_spoken *spoken, const struct names *names,
		const Evspace__Answer *answer, const struct batch *body, uint64_t until_ns,
		struct error *e);

/** Check no further. */
void below_spoken_fini(struct below_spoken *spoken);

/** What was learnt from one child. Plain data, usable when zeroed. */
struct hearsay {
	struct names_use use; /* of the names, by this child alone */
	/* limits that were reached, so that some was not learnt: room, room, time */
	bool many_names, many_comms, slow;
	size_t left_out; /* names and communicators not learnt since there was no memory */
	size_t stolen;	 /* names that claim another host, and the last of them: */
	char theft[NAME_BYTES];
};

/** A child of place @own: its node, and what is below. */
struct hearsay_child {
	const char *node;
	const struct below *below;
	uint32_t own;
};

/**
 * Learn what @answer from @child announces, except: names of places that are not below it (groups
 * that nobody has named are accepted) or of this place; names of hosts that are not there; names
 * for which @names are granted no memory; and names beyond the room that it leaves for all others.
 * Returns 0; 1 with @e if some of these are left out for the first time, or many more than at the
 * last report, or somebody contradicts it for the first time; or -1 with EPROTO and @e: it
 * announces more than one answer may.
 */
int hearsay_learn(struct hearsay *said, const struct hearsay_child *child,
		  const Evspace__Answer *answer, struct names *names, struct error *e);

#endif
