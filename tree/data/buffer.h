/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers: counted blocks of bytes, which what was received stays in until it is written. */
#ifndef EVSPACE_BUFFER_H
#define EVSPACE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/** Bytes with a reference count. `data` is 16-byte aligned. Each is for one thread at a time, so
 * the count is not atomic. */
struct buffer {
	uint32_t refs;
	uint32_t pad;
	size_t size; /* room in data */
	size_t used; /* bytes of data that are filled */
	_Alignas(16) unsigned char data[];
};

/** The common size, enough for most waves. A few free buffers of this size are kept for reuse. */
#define BUFFER_COMMON (64u << 10)

/** A new buffer with room for @size bytes or more and one reference. Aborts when there is no
 * memory. */
struct buffer *buffer_new(size_t size);

/** Add a reference. Returns @b. */
struct buffer *buffer_ref(struct buffer *b);

/** Drop a reference; the last one frees the buffer. NULL is fine. */
void buffer_unref(struct buffer *b);

/** Free the buffers kept for reuse, as no waves will come for a while. */
void buffer_rest(void);

#endif
