/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a delivery account. */
#ifndef EVSPACE_DELIVERY_PRIVATE_H
#define EVSPACE_DELIVERY_PRIVATE_H

#include "consumers/client/delivery.h"
#include "consumers/client/intervals.h"

/** A part of an answer while it is judged. */
struct delivery_entry {
	struct delivery_leaf *leaf;	 /* NULL: a mark, folded, or of an unknown leaf */
	const struct leaf_range *leaves; /* of a folded one: its leaves, in the answer's batch */
	uint32_t n_leaves;		 /* their ranges */
	uint64_t wave;
	bool is_new;
	bool mixed; /* the runs after it are of several parts: it is one of these, or their mark */
	uint32_t joins; /* of a mark: how many parts before it */
};

struct delivery {
	enum reading reading;
	bool backlog;
	struct delivery_leaf **leaves; /* all so far, the present ones first */
	struct delivery_leaf **places; /* by index */
	size_t n_leaves, n_present, n_places;
	struct intervals *numbers;
	uint64_t serial; /* number of answers */
	bool thinned;	 /* stages filter where parts are mixed: numbers do not show whose
			  * tuples are missing */
	uint32_t *again;
	uint64_t unnamed; /* unreadable processes of leaves that folded parts do not name */
	struct delivery_entry *entries;
	size_t n_entries, room_entries;
	struct batch kept;
};

/** The next leaf of the scope in a folded part. Start with {0}. */
struct delivery_walk {
	uint32_t range, place;
};

/** Of the entry that is folded; NULL: there are no more. */
struct delivery_leaf *delivery_walk_next(const struct delivery *delivery,
					 const struct delivery_entry *e,
					 struct delivery_walk *walk);

/** Make of @view, which is at a part of the batch, an entry without its judgement; @cursor moves
 * past what follows a folded part. */
struct delivery_entry delivery_entry_of(const struct delivery *delivery, const struct batch *batch,
					struct batch_cursor *cursor, const struct run_view *view);

#endif
