/* SPDX-License-Identifier: BSD-3-Clause */
/* Default capacity of elements: what the host's memory and a quick start allow. */
#ifndef EVSPACE_CAPACITY_H
#define EVSPACE_CAPACITY_H

#include <stdint.h>

#include "node-agent/segment/segment.h"

/** The elements of all processes of the program on this host take 1/CAPACITY_PART of the quota,
 * or of free memory if that is less. */
#define CAPACITY_PART 8u

/** Largest default capacity of a busy channel's element: with 8 threads a segment has 8.6 MB,
 * and a process takes 3 ms to touch it when it starts. */
#define CAPACITY_MOST 8000u

/** Facts about the host. */
struct capacity_host {
	uint64_t quota, free; /* bytes: of all runs at most; free now */
	uint32_t processes;   /* of the program on this host */
};

/** Set the capacities that @plan leaves open: channels that are busy in most programs get most,
 * rare ones SEGMENT_CAPACITY, which is the minimum for all. */
void capacity_plan(struct segment_plan *plan, const struct capacity_host *host);

/** Find out what the host has for @plan, whose folder exists. */
void capacity_host(struct capacity_host *host, const struct segment_plan *plan);

#endif
