/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process uses of its host, by the kernel's accounts: processor time and waits of its
 * threads, memory. */
#ifndef EVSPACE_USAGE_H
#define EVSPACE_USAGE_H

#include "node-agent/store/store.h"
#include "tree/wire/wire.h"

/** The `thread` of an account that is of all threads together which have no number in names. */
#define USAGE_OTHERS UINT32_MAX

/** Add to @p what the living process of @s uses; what may not be read is left out. Reads three
 * files in /proc for each of at most 256 threads, and one for the process. */
void usage_fill(const struct store_segment *s, Evspace__Process *p);

#endif
