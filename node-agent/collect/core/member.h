/* SPDX-License-Identifier: BSD-3-Clause */
/* The process as a member of a run: its segment, made and with modes by the settings, how much that
 * holds by default, and what the program says itself. */
#ifndef EVSPACE_MEMBER_H
#define EVSPACE_MEMBER_H

#include <stdint.h>

#include "node-agent/collect/core/evspace.h"
#include "node-agent/collect/core/settings.h"
#include "node-agent/segment/segment.h"

/** The process's identity in its run. */
struct member {
	int32_t rank;	 /* world rank, or task id */
	int32_t size;	 /* of the world; 0: tasks come and go */
	uint32_t world;	 /* id of the world */
	uint32_t parent; /* id of the world that has spawned this one, 0: none */
};

/** Make the process's segment, and begin to collect. Returns 0, or -1 with the reason noted in
 * the run's folder, if that exists; the program must not notice. */
int member_start(const struct member *member, const struct settings *settings);

/** Note in the run's folder that the process is not collected, for @reason. */
void member_refuse(const struct member *member, const struct settings *settings,
		   const char *reason);

/** Mark the segment, if there is one, as finished: the process has ended its part as it should. */
void member_finished(void);

/** What programs look up. It is in the preloaded library and empty until there is a segment,
 * because a program may look it up before. */
extern struct evspace_calls evspace_calls_1 __attribute__((visibility("default")));

extern struct evspace_told evspace_told_1 __attribute__((visibility("default")));

/** There is a segment: record from now on, as long as anything is collected. */
void user_begin(void);

/** There is a segment: give what agents write there from now on. */
void told_begin(void);

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
