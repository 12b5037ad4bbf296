/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a remap is possible at all: what of a map running agents cannot change. */
#ifndef EVSPACE_REMAP_CHECK_H
#define EVSPACE_REMAP_CHECK_H

#include "pathmap/base/error.h"

struct pathmap;
struct session_host;

/** Could the entry agent go by @map instead of its own while it runs? Returns 0, or -1 with errno
 * and
 * @e. */
int remap_check(const struct session_host *host, const struct pathmap *map, struct error *e);

#endif
