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

/** Waves that may be under way at a time; a power of two. */
#define DELIVERY_RECENT 64u

/** Whose parts of a wave have come, for leaves without a list of their own. */
struct delivery_recent {
	uint64_t wave;
	struct leaf_ranges leaves;
};

/** What a wave costs follows what has come, and who is noted: not the number of leaves. */
struct delivery {
	enum reading reading;
	bool backlog;
	struct delivery_leaf **leaves; /* all so far, the present ones first */
	struct delivery_leaf **places; /* by index */
	uint32_t *below;	       /* by index, and one more: leaves with a lower one */
	size_t n_leaves, n_present, n_places;
	/* present ones of which there is something to know (is_noted()), by index */
	struct delivery_leaf **noted;
	size_t n_noted;
	struct leaf_ranges came;			/* leaves in this answer */
	struct delivery_recent recent[DELIVERY_RECENT]; /* in streams, by wave */
	struct intervals *numbers;
	bool thinned; /* stages filter where parts are mixed: numbers do not show whose
		       * tuples are missing */
	uint32_t *again;
	uint64_t unnamed; /* unreadable processes of leaves that folded parts do not name */
	struct delivery_entry *entries;
	size_t n_entries, room_entries;
	struct batch kept;
};

/** Make of @view, which is at a part of the batch, an entry without its judgement; @cursor moves
 * past what follows a folded part. */
struct delivery_entry delivery_entry_of(const struct delivery *delivery, const struct batch *batch,
					struct batch_cursor *cursor, const struct run_view *view);

/** Is the leaf in the folded part? */
static inline bool delivery_entry_has(const struct delivery_entry *e,
				      const struct delivery_leaf *leaf)
{
	return leaf_ranges_have(e->leaves, e->n_leaves, leaf->index);
}

/** From now on the leaf is noted, until delivery_forgive(). */
void delivery_note(struct delivery *delivery, struct delivery_leaf *leaf);

/** After an answer: drop those from the noted of which there is nothing to know any more. */
void delivery_forgive(struct delivery *delivery);

/** In a stream: who owes what after the answer @a, of which delivery->entries are judged. */
void delivery_settle(struct delivery *delivery, const Evspace__Answer *a,
		     const struct delivery_times *times);

#endif
