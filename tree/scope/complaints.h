/* SPDX-License-Identifier: BSD-3-Clause */
/* Complaints: which agents that cannot be reached have a line in the log, and a sum of the others.
 */
#ifndef EVSPACE_COMPLAINTS_H
#define EVSPACE_COMPLAINTS_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "tree/link/rate-limit.h"

struct event;
struct event_base;

/** Plain data, of one set of children. */
struct complaints {
	struct rate_limit limit;
	unsigned long unsaid; /* since the last sum */
	struct error last;    /* the last of them */
	struct event *sum_up; /* pending if there are some, or were lately */
};

void complaints_init(struct complaints *c, struct event_base *base);
void complaints_fini(struct complaints *c);

/** May the agent that @line is about ("a0 at HOST:PORT: why") have a line of its own? If not, what
 * is @fresh counts for the sum. */
bool complaints_may(struct complaints *c, const struct error *line, bool fresh);

#endif
