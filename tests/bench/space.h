/* SPDX-License-Identifier: BSD-3-Clause */
/* A space: the elements of many ranks, all made and held by this one process. */
#ifndef EVSPACE_BENCH_SPACE_H
#define EVSPACE_BENCH_SPACE_H

#include <sys/types.h>

#include "node-agent/segment/segment.h"
#include "pathmap/base/error.h"

struct space {
	struct segment *segments; /* one of each rank that has elements */
	unsigned n;
};

/**
 * Make the folder @base/@run and in it a segment for each of @ranks ranks; rank r gets elements[r]
 * elements of @capacity tuples (none: no segment), six a thread (one of each channel), each holding
 * so many tuples that the newest ones are all over the rings. Returns 0, or -1 with @e.
 */
int space_make(struct space *space, const char *base, const char *run, unsigned ranks,
	       const unsigned *elements, unsigned capacity, struct error *e);

/** Begin a process that writes @rate tuples a second to each element, until it is killed. Returns
 * its pid, or -1 with @e. */
pid_t space_write(const struct space *space, double rate, struct error *e);

/** Let go of them. The files stay. */
void space_fini(struct space *space);

#endif
