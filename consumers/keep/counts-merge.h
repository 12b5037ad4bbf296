/* SPDX-License-Identifier: BSD-3-Clause */
/* What classes of operations have counted, by several archives. */
#ifndef EVSPACE_COUNTS_MERGE_H
#define EVSPACE_COUNTS_MERGE_H

#include "consumers/keep/merging.h"

/** Most classes of all elements: what one wave may have is 64 MiB, 40 bytes for each. */
#define COUNTS_MERGE_MOST (1u << 20)

/** Put the counts of the archives that were merged into @out beside what is in it, as one wave at
 * the end, if all of them have some. Returns 0; 1: they are too many, and none is there; or -1 with
 * events->e. */
int counts_merge(const struct merging *events, const char *out);

#endif
