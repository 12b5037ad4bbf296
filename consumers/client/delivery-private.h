/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of deliveries share: the inside. Nobody else includes this. */
#ifndef EVSPACE_DELIVERY_PRIVATE_H
#define EVSPACE_DELIVERY_PRIVATE_H

#include "consumers/client/delivery.h"

/** A part of an answer while it is judged. */
struct delivery_entry {
	struct delivery_leaf *leaf; /* NULL: a mark, or of no leaf that is known */
	uint64_t wave;
	bool is_new;
	bool mixed; /* what follows is of several parts, this one among them or the mark of them */
	uint32_t joins; /* of a mark: how many parts before it */
};

struct delivery {
	enum reading reading;
	bool backlog;
	struct delivery_leaf **leaves; /* all that there ever were, those of now first */
	struct delivery_leaf **places; /* by index */
	size_t n_leaves, n_present, n_places;
	struct intervals *numbers;
	uint64_t serial; /* of answers */
	bool thinned;	 /* tuples were taken out where parts are mixed: whose cannot be told */
	uint32_t *again;
	struct delivery_entry *entries;
	size_t n_entries, room_entries;
	struct batch kept;
};

#endif
