/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlaps: times of processes that count once, in whatever order they come: threads that wait
 * beside each other, and calls that wait for several messages. Pure. */
#ifndef EVSPACE_OVERLAP_H
#define EVSPACE_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

struct overlaps;

/** None yet; some @most spans are remembered (16 MB for a million), those that end last. */
struct overlaps *overlaps_new(size_t most);

/** NULL is fine. */
void overlaps_free(struct overlaps *overlaps);

/** Count the time from @from_ns to @to_ns of @process, numbered from 0 without large gaps. Returns
 * how much of it was not counted before, in ns. */
int64_t overlaps_add(struct overlaps *overlaps, uint32_t process, int64_t from_ns, int64_t to_ns);

#endif
