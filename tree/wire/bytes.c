/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of bytes in one block of memory, which others reuse when the queue is empty. */
#include "tree/wire/bytes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* An empty `struct bytes` keeps this much at most, so that idle links stay small. Larger blocks go
 * to a few spare ones for others, since freeing memory to the kernel and taking it again with every
 * wave costs more than all copying. */
#define BYTES_KEPT (16u << 10)
#define SPARE_MOST (512u << 10)
#define SPARES	   3u

static struct bytes spares[SPARES];

/* Clients may be in several threads: who finds the spare ones taken does without them. */
static atomic_flag spares_taken = ATOMIC_FLAG_INIT;

/** Free the memory of @b, or keep it as a spare one. */
static void bytes_spare(struct bytes *b)
{
	if (b->room <= SPARE_MOST && !atomic_flag_test_and_set(&spares_taken)) {
		for (unsigned i = 0; b->room && i < SPARES; i++) {
			if (spares[i].room)
				continue;
			spares[i] = *b;
			*b = (struct bytes){0};
		}
		atomic_flag_clear(&spares_taken);
	}
	bytes_free(b);
}

/** Memory of at least *@room bytes; sets *@room to its real size. */
static unsigned char *bytes_new(size_t *room)
{
	unsigned char *data = NULL;

	if (*room > BYTES_KEPT && !atomic_flag_test_and_set(&spares_taken)) {
		for (unsigned i = 0; !data && i < SPARES; i++) {
			if (spares[i].room < *room)
				continue;
			*room = spares[i].room;
			data = spares[i].data;
			spares[i] = (struct bytes){0};
		}
		atomic_flag_clear(&spares_taken);
	}
	if (!data)
		data = malloc(*room);
	if (!data)
		abort();
	return data;
}

unsigned char *bytes_reserve(struct bytes *b, size_t n)
{
	size_t room;

	if (b->at == b->used)
		b->at = b->used = 0;
	if (b->room - b->used >= n)
		return b->data + b->used;
	if (b->at >= b->used - b->at && b->room - bytes_held(b) >= n) {
		memcpy(b->data, b->data + b->at, bytes_held(b));
	} else {
		unsigned char *data;

		room = bytes_held(b) + n;
		room = room < 2 * b->room ? 2 * b->room : room < 1024 ? 1024 : room;
		data = bytes_new(&room);
		if (bytes_held(b))
			memcpy(data, b->data + b->at, bytes_held(b));
		free(b->data);
		b->data = data;
		b->room = room;
	}
	b->used -= b->at;
	b->at = 0;
	return b->data + b->used;
}

void bytes_commit(struct bytes *b, size_t n)
{
	b->used += n;
}

void bytes_consume(struct bytes *b, size_t n)
{
	b->at += n;
	if (b->at < b->used)
		return;
	b->at = b->used = 0;
	if (b->room > BYTES_KEPT)
		bytes_spare(b);
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}

void bytes_rest(void)
{
	if (atomic_flag_test_and_set(&spares_taken))
		return;
	for (unsigned i = 0; i < SPARES; i++)
		bytes_free(&spares[i]);
	atomic_flag_clear(&spares_taken);
}
