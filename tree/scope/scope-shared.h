/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared parts: what all parts of one consumer's scope on one host share, its names and its source.
 */
#ifndef EVSPACE_SCOPE_SHARED_H
#define EVSPACE_SCOPE_SHARED_H

#include <sys/queue.h>

#include "pathmap/base/error.h"
#include "tree/data/names.h"
#include "tree/stage/stage.h"
#include "tree/wire/wire.h"

struct quota;
struct scope_host;

/** Scopes that all have open on one host, and those of one consumer; parts of one scope, of which
 * there are two while a tree changes, by each way that leads here. */
#define SCOPE_SHARED_MOST  512u
#define SCOPE_SHARED_PEER  64u
#define SCOPE_SHARED_PARTS 16u

/**
 * While a tree changes, a host may have two parts of one scope: the old one that drains and the new
 * one, or its own and one that it stands in for. They read from the same cursors, so that a wave is
 * the same whichever part it is asked by, and names mean the same in both.
 */
struct scope_shared {
	LIST_ENTRY(scope_shared) entry;
	const struct scope_host *host;
	Evspace__Open *open; /* a copy of the first part's */
	struct plan_place
		*place;	     /* the leaf's, without what is below it; NULL: there is no source */
	uint64_t generation; /* of the map that it is from; 0: that part is gone */
	struct names *names;
	struct stage *source;
	struct quota *quota; /* its consumer's */
	unsigned parts;
};

LIST_HEAD(scope_shared_list, scope_shared);

/**
 * The shared part of the scope that @open opens, for one more part of it at @place; with a source
 * from now on if that is a leaf. NULL with errno and @e: no source could be made, or the part asks
 * for other elements than those before it, or for other users' (EEXIST), or there are too many
 * (EMFILE).
 */
struct scope_shared *scope_shared_join(const struct scope_host *host,
				       struct scope_shared_list *scopes_shared,
				       const Evspace__Open *open, const struct plan_place *place,
				       struct error *e);

/**
 * A wave that is new is read for the part at @place of map @generation. The first one for a newer
 * map than before has the source go by that place from there on: all waves of the old tree are read
 * by the old place, all of the new tree by the new one, on each host.
 */
void scope_shared_turn(struct scope_shared *scope_shared, uint64_t generation,
		       const struct plan_place *place);

/**
 * The part of map @generation is gone; with the last one the shared part ends, its cursors stay if
 * @keep. NULL is fine.
 */
void scope_shared_leave(struct scope_shared *scope_shared, uint64_t generation, bool keep);

#endif
