/* SPDX-License-Identifier: BSD-3-Clause */
/* Tuples of real programs as columns: how few bytes they are, and what packing and unpacking takes.
 */
#ifndef EVSPACE_BENCH_PACKED_H
#define EVSPACE_BENCH_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** What is measured: nanoseconds and bytes per tuple, medians over many passes. */
struct packed_cost {
	size_t tuples;
	double bytes, pack_ns, unpack_ns;      /* as columns */
	double memcpy_ns;		       /* only copied */
	double zstd_bytes, zstd_ns, unzstd_ns; /* by zstd, level 3 */
	double both_bytes;		       /* columns, and these by zstd */
};

/** The programs whose tuples are recorded. */
enum packed_program { PACKED_WINDTUNNEL, PACKED_HPCC, PACKED_PROGRAMS };

/** Its name; NULL: it is not on this machine. */
const char *packed_name(enum packed_program program);

/**
 * Run the program in the folder @dir, which exists, and measure with the tuples that it leaves, in
 * runs as a leaf sends them, for @seconds. Returns 0, or -1 with @e.
 */
int packed_measure(enum packed_program program, const char *dir, double seconds,
		   struct packed_cost *cost, struct error *e);

#endif
