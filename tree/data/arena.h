/* SPDX-License-Identifier: BSD-3-Clause */
/* An arena: memory that is given out bit by bit and taken back at once, for unpacked frame headers
 * and for names. */
#ifndef EVSPACE_ARENA_H
#define EVSPACE_ARENA_H

#include <stddef.h>
#include <protobuf-c/protobuf-c.h>

/** One block of an arena. */
struct arena_block;

/** Plain data. What it gives out is 16-byte aligned and lives until arena_reset(). */
struct arena {
	struct arena_block *blocks; /* the one in use first */
	size_t limit;		    /* bytes given out at most between two resets */
	size_t given;
	ProtobufCAllocator allocator; /* for protobuf-c; its free() does nothing */
};

/** @limit bounds what one hostile header can make us take. Nothing is taken before it is needed. */
void arena_init(struct arena *a, size_t limit);
void arena_fini(struct arena *a);

/** @bytes of memory, not zeroed, or NULL with ENOMEM beyond the limit. Aborts when memory is out.
 */
void *arena_take(struct arena *a, size_t bytes);

/** Take everything back. A block of the common size is kept, so that steady work allocates nothing.
 */
void arena_reset(struct arena *a);

#endif
