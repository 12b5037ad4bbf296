/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens scopes of delivery accounts, for their tests. */
#ifndef EVSPACE_TESTS_DELIVERY_SCOPE_H
#define EVSPACE_TESTS_DELIVERY_SCOPE_H

#include "consumers/client/delivery.h"

#define DELIVERY_SCOPE_MOST 6u

/** A scope of @n leaves: 1 to 3, and 5 to 7, "/c/n1", … */
static inline void delivery_scope(struct delivery *delivery, enum reading reading, uint32_t n)
{
	static char names[DELIVERY_SCOPE_MOST][8] = {"/c/n1", "/c/n2", "/c/n3",
						     "/c/n5", "/c/n6", "/c/n7"};
	Evspace__Leaf leaves[DELIVERY_SCOPE_MOST], *list[DELIVERY_SCOPE_MOST];
	Evspace__Opened o = EVSPACE__OPENED__INIT;

	for (uint32_t i = 0; i < n; i++) {
		evspace__leaf__init(&leaves[i]);
		leaves[i].index = i < 3 ? i + 1 : i + 2;
		leaves[i].name = names[i];
		list[i] = &leaves[i];
	}
	o.reading = reading;
	o.leaves = list;
	o.n_leaves = n;
	delivery_open(delivery, &o, true);
}

#endif
