/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements that a map has agents make, as agents are told of them. */
#ifndef EVSPACE_PLAN_MADE_H
#define EVSPACE_PLAN_MADE_H

#include <stdint.h>

#include "pathmap/model/parts.h"

/** Most characters of all of them. */
#define MADE_TEXT_MAX 65536u

/** Most bytes of all of them, each on one node; and those of one with tuples of @bytes. */
#define MADE_ROOM_MAX (UINT64_C(256) << 20)
static inline uint64_t made_room(size_t bytes, unsigned capacity)
{
	return ((bytes + 7) / 8 + 1) * 8 * (uint64_t)capacity;
}

/** "NODE RUN NAME CAPACITY WAIT_MS FIELDS;" for each element and node; "" if there are none.
 * For the caller to free(). */
char *made_text(const struct pathmap *map);

/** Report what of them cannot be. */
void made_check(const struct pathmap *map, const struct mapfile *source,
		struct diagnostics *diagnostics);

#endif
