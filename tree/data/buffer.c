/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers: counting owners, and a short list of free ones so that waves allocate nothing. */
#include "tree/data/buffer.h"

#include <stdlib.h>

/* Enough for the waves under way of a few scopes; more go back to the allocator. */
#define FREE_MOST 16

static struct buffer *free_list[FREE_MOST];
static unsigned n_free;

struct buffer *buffer_new(size_t size)
{
	struct buffer *b;

	if (size <= BUFFER_COMMON && n_free > 0) {
		b = free_list[--n_free];
	} else {
		if (size < BUFFER_COMMON)
			size = BUFFER_COMMON;
		if (size > SIZE_MAX - sizeof(*b))
			abort();
		b = malloc(sizeof(*b) + size);
		if (!b)
			abort();
		b->size = size;
	}
	b->refs = 1;
	b->used = 0;
	return b;
}

struct buffer *buffer_ref(struct buffer *b)
{
	b->refs++;
	return b;
}

void buffer_unref(struct buffer *b)
{
	if (!b || --b->refs > 0)
		return;
	if (b->size == BUFFER_COMMON && n_free < FREE_MOST)
		free_list[n_free++] = b;
	else
		free(b);
}

void buffer_rest(void)
{
	while (n_free > 0)
		free(free_list[--n_free]);
}
