/* SPDX-License-Identifier: BSD-3-Clause */
/* The census: how many processes a process has forked, and what memory and time they take. */
#ifndef EVSPACE_BENCH_CENSUS_H
#define EVSPACE_BENCH_CENSUS_H

#include <stddef.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

/** All the children of a process; zero-initialise. */
struct census {
	pid_t *pids;
	size_t n;
};

/** Find the children of @parent. Returns 0, or -1 with @e. */
int census_take(struct census *census, pid_t parent, struct error *e);
void census_fini(struct census *census);

/** Of the process that has most of it. Private is what no other process has mapped. */
struct census_size {
	double pss_mb, private_mb; /* 10^6 bytes */
	double median_mb;	   /* private memory of the one in the middle */
	unsigned threads;
};

/** What memory they take (proc(5), smaps_rollup). Returns 0, or -1 with @e. */
int census_sizes(const struct census *census, struct census_size *most, struct error *e);

/** CPU time of all of them so far, in seconds, as the scheduler counts it; ended ones count 0. */
double census_cpu(const struct census *census);

#endif
