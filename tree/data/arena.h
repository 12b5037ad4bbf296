/* SPDX-License-Identifier: BSD-3-Clause */
/* An arena: memory that is given out bit by bit and taken back at once, for unpacked frame headers
 * and for names. */
#ifndef EVSPACE_ARENA_H
#define EVSPACE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <protobuf-c/protobuf-c.h>

/** One block of an arena. */
struct arena_block;

/** Plain data. What it gives out is 16-byte aligned and lives until arena_reset(). */
struct arena {
	struct arena_block *blocks; /* the one in use first */
	size_t limit;		    /* bytes given out at most between two resets */
	size_t given;
	/* Whoever says whether more may be taken, NULL: nobody; and what was granted. */
	bool (*grant)(void *arg, size_t bytes);
	void *grant_arg;
	size_t granted;
	ProtobufCAllocator allocator; /* for protobuf-c; its free() does nothing */
};

/** @limit bounds what one hostile header can make us take. Nothing is taken before it is needed. */
void arena_init(struct arena *a, size_t limit);
void arena_fini(struct arena *a);

/** @bytes of memory, not zeroed, or NULL with ENOMEM beyond the limit. Aborts when memory is out.
 */
void *arena_take(struct arena *a, size_t bytes);

/** May @bytes be taken, here or elsewhere? What is taken without asking is not counted. */
bool arena_grant(struct arena *a, size_t bytes);

/** Take everything back. A block of the common size is kept, so that steady work allocates nothing.
 */
void arena_reset(struct arena *a);

#endif
