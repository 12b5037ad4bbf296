/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of bytes that wait to be sent. */
#ifndef EVSPACE_BYTES_H
#define EVSPACE_BYTES_H

#include <stddef.h>

/** Bytes that wait: [at, used) of `data`. Grows; a large one is given back when it is empty. */
struct bytes {
	unsigned char *data;
	size_t at, used, room;
};

/** Room for @n more bytes at the end, valid until the next call. Aborts when memory is out. */
unsigned char *bytes_reserve(struct bytes *b, size_t n);
/** @n bytes were put there. */
void bytes_commit(struct bytes *b, size_t n);
/** @n bytes at the beginning were used up. */
void bytes_consume(struct bytes *b, size_t n);
void bytes_free(struct bytes *b);
/** Nothing large will be sent for a while: free what is spare. */
void bytes_rest(void);
static inline size_t bytes_held(const struct bytes *b)
{
	return b->used - b->at;
}

#endif
