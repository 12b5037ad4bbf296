/* SPDX-License-Identifier: BSD-3-Clause */
/* What the application map says of this process's elements by name: EVSPACE_PROPERTIES. */
#ifndef EVSPACE_PROPERTIES_H
#define EVSPACE_PROPERTIES_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/model/pattern.h"

/** Most items that count for one process. */
#define PROPERTIES_MAX 64u

/** One item: what its elements, by "/rankR/tT/CHANNEL", are like. */
struct property {
	char pattern[NAME_BYTES];
	uint32_t capacity;    /* 0: not said */
	uint64_t lifetime_ns; /* likewise */
	int mode;	      /* -1: likewise */
};

struct properties {
	int32_t rank;
	uint32_t n;
	struct property items[PROPERTIES_MAX];
};

/**
 * Read the items of @text (pathmap/plan/rules.h; NULL: none) that are for @rank. Allocates nothing.
 * False: something in it is not valid, and left out.
 */
bool properties_read(struct properties *p, const char *text, int32_t rank);

/** What is said of the element of thread @thread and @channel: later items go before earlier
 * ones. */
struct property properties_of(const struct properties *p, uint32_t thread, unsigned channel);

#endif
