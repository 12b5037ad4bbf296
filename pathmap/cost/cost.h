/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost: what a plan's waves will cost its hosts and links, and how many a second there can be. */
#ifndef EVSPACE_COST_H
#define EVSPACE_COST_H

#include <stddef.h>

#include "pathmap/cost/calibration.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"

/** One host of a plan, per wave. */
struct cost_host {
	const struct plan_place *place, *parent; /* parent NULL: the consumer */
	size_t machine;				 /* hosts of one machine share its cores */
	double records;				 /* that it sends up */
	double bytes;				 /* of them, on the link to it */
	double cpu_us;				 /* with one wave under way */
	double wakes;				 /* of that: how often it is woken */
	double bits_per_s;			 /* of that link, 0: not said */
};

/** What is predicted of a plan. */
struct cost {
	struct cost_host *hosts; /* the root first, each before its children */
	size_t n_hosts;
	unsigned window;
	double waves_per_s;	   /* one wave under way at a time */
	double window_waves_per_s; /* @window of them */
	double cpu_us;		   /* of all hosts, per wave */
	size_t busiest;		   /* the host that uses the most */
};

/**
 * Predict what @plan, made of @map, costs. A wave takes as long as the slowest way down and up: at
 * each host being woken, taking and making frames, encryption (not on Unix sockets), reading and
 * stages, and on links the latency and bandwidth that the cluster map says; children are asked as
 * many at once as the plan says. It takes no less than the CPU time that it needs on a machine,
 * divided by its cores. With more waves under way, wake-ups are shared by them, and the busiest
 * host (agents have one thread), machine or link is the limit. cost_fini() frees.
 */
void cost_predict(struct cost *cost, const struct plan *plan, const struct pathmap *map,
		  const struct calibration *calibration, unsigned window);

/** Free what it owns; the plan stays. */
void cost_fini(struct cost *cost);

/** Bytes per wave on all links of the host: to it, and from it to its children. */
double cost_host_bytes(const struct cost *cost, size_t host);

#endif
