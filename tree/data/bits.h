/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits: values one behind the other, in no more bits than each needs. */
#ifndef EVSPACE_BITS_H
#define EVSPACE_BITS_H

#include <stddef.h>
#include <stdint.h>

/** Values that are put or got at once, at most. */
#define BITS_VALUES 128u
/** What bits_put() may write behind the last bits. */
#define BITS_SPARE 8u

/** Bytes of @n values of @width bits, 0 to 64. */
size_t bits_bytes(size_t n, unsigned width);

/**
 * Put @n @values less @reference, which then are below 2^width, to @to, the lowest bit first, to a
 * full byte; of more than 56 bits the lower 32 of all, then the others of all. They are changed.
 * Returns where they end.
 */
unsigned char *bits_put(unsigned char *to, uint64_t *values, size_t n, unsigned width,
			uint64_t reference);

/** Get them from @from, where there are bits_bytes(); what is behind, up to @end, may be read, too.
 */
void bits_get(const unsigned char *from, const unsigned char *end, uint64_t *values, size_t n,
	      unsigned width, uint64_t reference);

#endif
