/* SPDX-License-Identifier: BSD-3-Clause */
/* How much elements hold when nobody says it: as much as the host's memory and a quick start allow.
 */
#ifndef EVSPACE_CAPACITY_H
#define EVSPACE_CAPACITY_H

#include <stdint.h>

#include "node-agent/segment/segment.h"

/** The elements of all processes of the program on this host take this part of what there is. */
#define CAPACITY_PART 8u

/** Tuples that an element of a busy channel holds at most: with 8 threads a segment has 8.6 MB,
 * which a process touches in 3 ms when it starts. */
#define CAPACITY_MOST 8000u

/** What is known of the host. */
struct capacity_host {
	uint64_t quota, free; /* bytes that all runs may have, that are free */
	uint32_t processes;   /* of the program on this host */
};

/**
 * Fill in what @plan leaves open of its capacities: channels that are busy in most programs have
 * most, rare ones SEGMENT_CAPACITY, which is the least for all.
 */
void capacity_plan(struct segment_plan *plan, const struct capacity_host *host);

/** What there is for a plan whose folder exists. */
void capacity_host(struct capacity_host *host, const struct segment_plan *plan);

#endif
