/* SPDX-License-Identifier: BSD-3-Clause */
/* An arena: memory that is taken piece by piece and freed at once, for unpacked frame headers and
 * names. */
#ifndef EVSPACE_ARENA_H
#define EVSPACE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <protobuf-c/protobuf-c.h>

/** One block of an arena. */
struct arena_block;

/** Plain data. Memory from it is 16-byte aligned and lives until arena_reset(). */
struct arena {
	struct arena_block *blocks; /* the one in use first */
	size_t limit;		    /* most bytes taken between two resets */
	size_t given;
	/* asks whether more may be taken (NULL: always), and how much was granted */
	bool (*grant)(void *arg, size_t bytes);
	void *grant_arg;
	size_t granted;
	ProtobufCAllocator allocator; /* for protobuf-c; its free() does nothing */
};

/** @limit bounds what one hostile header can make us allocate. Allocates nothing yet. */
void arena_init(struct arena *a, size_t limit);
void arena_fini(struct arena *a);

/** @bytes of memory, not zeroed, or NULL with ENOMEM beyond the limit. Aborts when there is no
 * memory. */
void *arena_take(struct arena *a, size_t bytes);

/** May @bytes be allocated, from this arena or elsewhere? Only memory that is asked for is counted
 * in `granted`. */
bool arena_grant(struct arena *a, size_t bytes);

/** Free everything. A block of the common size is kept, so that steady work allocates nothing. */
void arena_reset(struct arena *a);

#endif
