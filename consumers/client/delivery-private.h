/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of deliveries, for their files alone. */
#ifndef EVSPACE_DELIVERY_PRIVATE_H
#define EVSPACE_DELIVERY_PRIVATE_H

#include "consumers/client/delivery.h"

/** A part of an answer while it is judged. */
struct delivery_entry {
	struct delivery_leaf *leaf; /* NULL: a mark, or of an unknown leaf */
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
	struct delivery_entry *entries;
	size_t n_entries, room_entries;
	struct batch kept;
};

#endif
