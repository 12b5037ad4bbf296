/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between two pathmaps. */
#ifndef EVSPACE_DIFFERENCE_H
#define EVSPACE_DIFFERENCE_H

#include <stddef.h>

#include "pathmap/model/pathmap.h"

/** One difference. Valid until the call returns. */
struct difference {
	const char
		*what; /* "node", "rank", "channel", "view", or within a view "place", "stages" */
	const char *view;      /* NULL: not about a single view */
	const char *subject;   /* the node, channel or view */
	const char *from, *to; /* "": nothing */
	const char *text;      /* "b1 from b0 to front" */
};

typedef void difference_report(void *arg, const struct difference *difference);

/**
 * Report all differences that matter to users: nodes with their clusters and addresses, ranks, what
 * is collected, what consumers may define, views, and for each view of both the tree and what runs
 * where. Returns their number.
 */
size_t difference_walk(const struct pathmap *from, const struct pathmap *to,
		       difference_report *report, void *arg);

#endif
