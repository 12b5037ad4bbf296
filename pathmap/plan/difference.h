/* SPDX-License-Identifier: BSD-3-Clause */
/* What would change if one pathmap took the place of another. */
#ifndef EVSPACE_DIFFERENCE_H
#define EVSPACE_DIFFERENCE_H

#include <stddef.h>

#include "pathmap/model/pathmap.h"

/** One thing that is different, in words. Lasts until the call returns. */
struct difference {
	const char
		*what; /* "node", "rank", "channel", "view", or within a view "place", "stages" */
	const char *view;      /* NULL: it is about no single view */
	const char *subject;   /* the node, channel or view */
	const char *from, *to; /* "" where there is nothing */
	const char *text;      /* "b1 from b0 to front" */
};

typedef void difference_report(void *arg, const struct difference *difference);

/**
 * Report all that differs between the two, as it matters to who runs them: nodes with their
 * clusters and addresses, ranks, what is collected, views, and for each view that both have which
 * host is below which other one, and what runs where. Returns how much that is.
 */
size_t difference_walk(const struct pathmap *from, const struct pathmap *to,
		       difference_report *report, void *arg);

#endif
