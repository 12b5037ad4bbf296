/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in a list of blocks; a reset frees all but one of them. */
#include "tree/data/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define ARENA_BLOCK (16u << 10)
#define ARENA_ALIGN 16u

struct arena_block {
	struct arena_block *next;
	size_t room, used;
	_Alignas(ARENA_ALIGN) unsigned char data[];
};

static void *allocator_alloc(void *data, size_t bytes)
{
	return arena_take(data, bytes);
}

static void allocator_free(void *data, void *pointer)
{
	(void)data;
	(void)pointer;
}

void arena_init(struct arena *a, size_t limit)
{
	*a = (struct arena){.limit = limit};
	a->allocator = (ProtobufCAllocator){allocator_alloc, allocator_free, a};
}

void arena_fini(struct arena *a)
{
	struct arena_block *block;

	while ((block = a->blocks)) {
		a->blocks = block->next;
		free(block);
	}
}

/* A large request gets its own block, second in the list, so that the rest of the first stays in
 * use. */
static struct arena_block *block_add(struct arena *a, size_t bytes)
{
	struct arena_block *first = a->blocks, *block;
	bool own = bytes > ARENA_BLOCK || (first && bytes > ARENA_BLOCK / 8);
	size_t room = own ? bytes : ARENA_BLOCK;

	block = malloc(sizeof(*block) + room);
	if (!block)
		abort();
	*block = (struct arena_block){.next = first, .room = room};
	if (!own || !first) {
		a->blocks = block;
		return block;
	}
	block->next = first->next;
	first->next = block;
	return block;
}

void *arena_take(struct arena *a, size_t bytes)
{
	struct arena_block *block = a->blocks;
	void *given;

	if (bytes > a->limit - a->given) {
		errno = ENOMEM;
		return NULL;
	}
	bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!block || block->room - block->used < bytes)
		block = block_add(a, bytes);
	given = block->data + block->used;
	block->used += bytes;
	a->given += bytes < a->limit - a->given ? bytes : a->limit - a->given;
	return given;
}

bool arena_grant(struct arena *a, size_t bytes)
{
	if (a->grant && !a->grant(a->grant_arg, bytes))
		return false;
	a->granted += bytes;
	return true;
}

void arena_reset(struct arena *a)
{
	struct arena_block *block, *next, *kept = NULL;

	for (block = a->blocks; block; block = next) {
		next = block->next;
		if (!kept && block->room == ARENA_BLOCK)
			kept = block;
		else
			free(block);
	}
	if (kept)
		*kept = (struct arena_block){.room = ARENA_BLOCK};
	a->blocks = kept;
	a->given = 0;
}
