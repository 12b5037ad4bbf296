/* SPDX-License-Identifier: BSD-3-Clause */
/* The grove: agents for gather trees of several shapes, and runs with elements for them. */
#ifndef EVSPACE_BENCH_GROVE_H
#define EVSPACE_BENCH_GROVE_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tests/bench/bed.h"
#include "tests/bench/floor.h"
#include "tests/bench/space.h"

/** Clusters c0 to c7, each with so many nodes at most. */
#define GROVE_CLUSTERS 8u
#define GROVE_NODES    16u

/** The tuples that every element can hold: the paper's discard threshold. */
#define GROVE_CAPACITY 200u

/**
 * What there is to be looked at, by its run's name. A view's name says which hosts are in its tree:
 *   leavesN    the first N / 8 nodes of each cluster, below a node of their own for each cluster
 *   reducedN   the same, and each host passes on the newest tuple of all below it, only
 *   eight      the first node of each cluster, directly below the entry
 *   paper      8 nodes in one cluster and 4 in another, each cluster below a node of its own
 *   paper-flat the same directly below the entry
 */
enum grove_run {
	GROVE_EVEN,  /* 31 elements on every node */
	GROVE_EIGHT, /* 248 on the first node of each cluster */
	GROVE_LARGE, /* 2,500 on these */
	GROVE_PAPER, /* the EventSpace paper's 1,948 on the 12 nodes of its view (section 6.2) */
	GROVE_RUNS,
};

struct trees {
	struct bed bed;
	bool local;
	unsigned nodes; /* of each cluster */
	struct space spaces[GROVE_RUNS];
};

/**
 * Start the agents, connected by TLS, with @nodes in each cluster; @local: by Unix sockets, and
 * there are only the first nodes, for the view eight. Returns 0, or -1 with @e; grove_fell() is due
 * in any case.
 */
int grove_plant(struct trees *trees, unsigned nodes, bool local, struct error *e);
void grove_fell(struct trees *trees);

const char *grove_run_name(enum grove_run run);

/**
 * The plan of @view, the caller's to free, and *@places for a floor of the same shape, the caller's
 * to free(). Returns how many tuples a wave has without reduction. NULL in *@plan with @e.
 */
unsigned grove_plan(const struct trees *trees, const char *view, enum grove_run run,
		    struct plan **plan, struct floor_place **places, struct error *e);

/** How many leaves a plan has. */
unsigned grove_leaves(const struct plan *plan);

#endif
