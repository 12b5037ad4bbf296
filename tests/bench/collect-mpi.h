/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI programs that a case starts, with the collector preloaded or without. */
#ifndef EVSPACE_BENCH_COLLECT_MPI_H
#define EVSPACE_BENCH_COLLECT_MPI_H

#include <stddef.h>

#include "pathmap/base/error.h"
#include "tests/bench/collect-case.h"

/** What is started, and how. */
struct mpi_run {
	unsigned ranks;
	const char *folder;	   /* that it runs in; NULL: ours */
	const char *before, *with; /* preloaded before and after the collector; NULL: nothing */
	bool alone;		   /* without the collector */
	const char *program;	   /* a path */
	const char *const *args;   /* ended by NULL */
};

/**
 * Run it under mpirun to its end, ranks pinned if each has a core; its segments are removed. What
 * it says goes to mpi_log(). Returns 0, or -1 with @e.
 */
int mpi_run(const struct mpi_run *run, struct error *e);

/** The file with what the last run said. Returns @path. */
const char *mpi_log(char *path, size_t n);

/** Run the bench's own @program ("solo", "duo") for @c, and report the figures that it says. */
int mpi_figures(const struct collect_case *c, const char *program, struct mpi_run run,
		struct error *e);

#endif
