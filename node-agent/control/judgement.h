/* SPDX-License-Identifier: BSD-3-Clause */
/* A judgement: whether another map can be gone by, of what hosts say of their parts of the old
 * trees and of the new ones. */
#ifndef EVSPACE_JUDGEMENT_H
#define EVSPACE_JUDGEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/opening.h"

/** What is wrong with a host, in its own words, or of somebody on the way to it. */
struct judgement_fault {
	char *node, *text; /* NULL: nothing is */
	const char *what;  /* ours, between them */
};

/** All zero but for the first two at first; then say what there is in the order of the functions.
 */
struct judgement {
	const struct plan_place *before;	/* the tree by the old map */
	const struct pathmap *map;		/* the new one */
	struct judgement_fault refused, absent; /* the first of each */
	struct judged *nodes;			/* what is known of each, by name */
	bool marked;				/* which of them are kept is known */
	/* Those of the new map that were not ready before either, and those that it lacks and that
	   have ranks which it puts elsewhere. */
	Evspace__Unready **missing;
	size_t n_missing;
};

/** A host is not ready in the tree `before`. Who is not in the new map, and who is behind one that
 * is not, cannot refuse it. All of these are failover_reports. */
void judgement_before(void *judgement, const struct unready *who);

/** The same in the old tree of a scope that is open. */
void judgement_was(void *judgement, const struct unready *who);

/** A host is not ready in a new tree. */
void judgement_after(void *judgement, const struct unready *who);

/** Forget what was said. */
void judgement_fini(struct judgement *judgement);

#endif
