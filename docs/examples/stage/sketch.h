/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in a record of the kind "sketch": tuples, bytes, and rows of counters of bytes by a hash
 * of the peer. Each row says too much for some peers and too little for none, so the least of the
 * rows is next to the truth. */
#ifndef SKETCH_H
#define SKETCH_H

#include <stdint.h>

#define SKETCH_HEAD 2u
#define SKETCH_ROWS 4u
#define SKETCH_MOST 1000u /* counters of a row */

/* Where a peer's bytes are counted in this row. */
static inline unsigned sketch_at(unsigned row, int32_t peer, unsigned counters)
{
	uint64_t hash = ((uint64_t)(uint32_t)peer + 1) * (UINT64_C(0x9e3779b97f4a7c15) + 2 * row);

	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return SKETCH_HEAD + row * counters + (unsigned)((hash >> 32) * counters >> 32);
}

#endif
