/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes buffers, and keeps a few of the common size for those that come next. */
#include "tree/data/buffer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* Enough for the waves under way of a few scopes; more are freed. */
#define FREE_MOST 16

static struct buffer *free_list[FREE_MOST];
static unsigned n_free;

/* Clients may be in several threads: who finds the list taken does without it. */
static atomic_flag list_taken = ATOMIC_FLAG_INIT;

static struct buffer *list_pop(void)
{
	struct buffer *b = NULL;

	if (atomic_flag_test_and_set(&list_taken))
		return NULL;
	if (n_free > 0)
		b = free_list[--n_free];
	atomic_flag_clear(&list_taken);
	return b;
}

static bool list_push(struct buffer *b)
{
	bool room;

	if (atomic_flag_test_and_set(&list_taken))
		return false;
	room = n_free < FREE_MOST;
	if (room)
		free_list[n_free++] = b;
	atomic_flag_clear(&list_taken);
	return room;
}

struct buffer *buffer_new(size_t size)
{
	struct buffer *b = size <= BUFFER_COMMON ? list_pop() : NULL;

	if (!b) {
		size = size < BUFFER_COMMON ? BUFFER_COMMON : size;
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
	if (b->size != BUFFER_COMMON || !list_push(b))
		free(b);
}

void buffer_rest(void)
{
	struct buffer *b;

	while ((b = list_pop()))
		free(b);
}
