/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of memory behind each other; a reset gives back all but one of them. */
#include "tree/data/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static void *arena_alloc(struct arena *a, size_t bytes);

#define ARENA_BLOCK (16u << 10)
#define ARENA_ALIGN 16u

struct arena_block {
	struct arena_block *next;
	size_t room, used;
	_Alignas(ARENA_ALIGN) unsigned char data[];
};

static void *allocator_alloc(void *data, size_t bytes)
{
	return arena_alloc(data, bytes);
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

/* @bytes of memory, not zeroed, or NULL with ENOMEM beyond the limit. Aborts when memory is out.
 */
static void *arena_alloc(struct arena *a, size_t bytes)
{
	struct arena_block *block = a->blocks;
	void *given;

	if (bytes > a->limit - a->given) {
		errno = ENOMEM;
		return NULL;
	}
	bytes = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!block || block->room - block->used < bytes) {
		size_t room = bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK;

		block = malloc(sizeof(*block) + room);
		if (!block)
			abort();
		*block = (struct arena_block){.next = a->blocks, .room = room};
		a->blocks = block;
	}
	given = block->data + block->used;
	block->used += bytes;
	a->given += bytes < a->limit - a->given ? bytes : a->limit - a->given;
	return given;
}

void arena_reset(struct arena *a)
{
	struct arena_block *block;

	while ((block = a->blocks) && (block->next || block->room > ARENA_BLOCK)) {
		a->blocks = block->next;
		free(block);
	}
	if (block)
		block->used = 0;
	a->given = 0;
}
