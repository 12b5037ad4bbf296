/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost: what a plan's waves cost its hosts and links, and their greatest rate. */
#ifndef EVSPACE_COST_H
#define EVSPACE_COST_H

#include <stddef.h>

#include "pathmap/cost/calibration.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"

/** One host of a plan, per wave. */
struct cost_host {
	const struct plan_place *place, *parent; /* parent NULL: the consumer */
	size_t machine;				 /* hosts on one machine share its cores */
	double records;				 /* sent up */
	double bytes;				 /* of these, on the link to it */
	double cpu_us;				 /* with one wave under way */
	double wakes;				 /* number of wake-ups in that */
	double bits_per_s;			 /* of that link, 0: not known */
};

/** The prediction for a plan. */
struct cost {
	struct cost_host *hosts; /* the root first, each before its children */
	size_t n_hosts;
	unsigned window;
	double waves_per_s;	   /* one wave under way at a time */
	double window_waves_per_s; /* `window` waves under way */
	double cpu_us;		   /* of all hosts, per wave */
	size_t busiest;		   /* index of the host with most CPU time */
};

/**
 * Predict the cost of @plan, made of @map. A wave takes as long as the slowest path down and up: at
 * each host wake-ups, frames, encryption (not on Unix sockets), reading and stages, and on links
 * the latency and bandwidth of the cluster map; the plan says how many children are asked at once.
 * It takes at least its CPU time on any machine, divided by the cores. With more waves under way,
 * these share wake-ups, and the busiest host (agents have one thread), machine or link is the
 * limit. cost_fini() frees.
 */
void cost_predict(struct cost *cost, const struct plan *plan, const struct pathmap *map,
		  const struct calibration *calibration, unsigned window);

/** Free what it owns; the plan stays. */
void cost_fini(struct cost *cost);

/** Bytes per wave on all links of the host: to it, and from it to its children. */
double cost_host_bytes(const struct cost *cost, size_t host);

#endif
