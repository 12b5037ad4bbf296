/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of an archive by element: which tuples it has, and which it lacks for what cause. */
#ifndef EVSPACE_CONTENTS_H
#define EVSPACE_CONTENTS_H

#include "consumers/client/evspace-client.h"
#include "pathmap/base/hash.h"

/** What an archive has of an element. */
struct content {
	char *name;
	uint64_t tuples;
	uint64_t first, last; /* their numbers; UINT64_MAX: not known */
	uint64_t lost, discarded;
	UT_hash_handle hh;
};

/** Of all elements, in the order in which they came. */
struct contents {
	struct content *elements;
	int64_t from_ns, to_ns; /* when the first began, and the last ended; 0: none */
	size_t n;
};

/** Add the wave of @client. */
void contents_take(struct contents *h, struct evspace_client *client);
void contents_fini(struct contents *h);

#endif
