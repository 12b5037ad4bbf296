/* SPDX-License-Identifier: BSD-3-Clause */
/* The source stage of views that read counts: what each thread has counted in each class of
 * operations, exact and cumulative, so that it needs no cursors. */
#ifndef EVSPACE_COUNTER_H
#define EVSPACE_COUNTER_H

#include "node-agent/source/source.h"

/**
 * A source for @place as source_new() makes them: a run of RUN_COUNTS for each thread and channel
 * that has counted something, named like the element that the thread has for the channel.
 */
struct stage *counter_new(const struct source_host *host, const Evspace__Open *open,
			  const struct plan_place *place, struct names *names, struct error *e);

/** Go by @place from now on, of the same node; it outlives the stage. */
void counter_replace(struct stage *stage, const struct plan_place *place);

#endif
