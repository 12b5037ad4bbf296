/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: what the program says that a thread is in (evspace.h), read out of its segment. */
#ifndef EVSPACE_SEGMENT_REGION_H
#define EVSPACE_SEGMENT_REGION_H

#include "node-agent/segment/segment.h"

/**
 * The innermost region that a thread has open, else its phase (evspace.h), as a tuple since when it
 * has, with flags TUPLE_RUNNING and TUPLE_REGION and its label as number. Returns 1, or 0 when
 * there is none, it changes just now, or nobody knows since when (its mode had no clock).
 */
int segment_region(const struct segment_thread *thread, struct tuple *out);

#endif
