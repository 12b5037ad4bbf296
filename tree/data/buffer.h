/* SPDX-License-Identifier: BSD-3-Clause */
/* A reference-counted piece of memory that received or produced data lives in
 * (docs/architecture.md). */
#ifndef EVSPACE_BUFFER_H
#define EVSPACE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/** Bytes with an owner count. `data` is 16-byte aligned. The loop's thread alone, so plain
 * counting. */
struct buffer {
	uint32_t refs;
	uint32_t pad;
	size_t size; /* room in data */
	size_t used; /* how far data is filled */
	_Alignas(16) unsigned char data[];
};

/** The common size: most waves fit. Buffers of this size are kept for reuse, a few of them. */
#define BUFFER_COMMON (64u << 10)

/** A new buffer with room for @size bytes or more and one reference. Aborts when memory is out. */
struct buffer *buffer_new(size_t size);

/** Take one more reference. Returns @b. */
struct buffer *buffer_ref(struct buffer *b);

/** Give a reference back; the last one frees. NULL is fine. */
void buffer_unref(struct buffer *b);

/** No waves will come for a while: free the buffers that are kept for them. */
void buffer_rest(void);

#endif
