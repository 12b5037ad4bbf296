/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of bytes to send. */
#ifndef EVSPACE_BYTES_H
#define EVSPACE_BYTES_H

#include <stddef.h>

/** The queued bytes: [at, used) of `data`. Grows; a large block is given back when it is empty. */
struct bytes {
	unsigned char *data;
	size_t at, used, room;
};

/** Memory for @n more bytes at the end, valid until the next call. Aborts when there is no
 * memory. */
unsigned char *bytes_reserve(struct bytes *b, size_t n);
/** Add the @n bytes written there. */
void bytes_commit(struct bytes *b, size_t n);
/** Remove @n bytes from the beginning. */
void bytes_consume(struct bytes *b, size_t n);
void bytes_free(struct bytes *b);
/** Free the spare blocks, as nothing large will be sent for a while. */
void bytes_rest(void);
static inline size_t bytes_held(const struct bytes *b)
{
	return b->used - b->at;
}

#endif
