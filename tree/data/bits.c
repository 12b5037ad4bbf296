/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs and unpacks bits by words of 8 bytes wherever they begin. */
#include "tree/data/bits.h"

#include <endian.h>
#include <string.h>

/* Wider values do not always fit into the 8 bytes from where they begin. */
#define WHOLE 56u
#define LOWER 32u

static uint64_t load64(const unsigned char *from)
{
	uint64_t le;

	memcpy(&le, from, sizeof(le));
	return le64toh(le);
}

static void store64(unsigned char *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
}

size_t bits_bytes(size_t n, unsigned width)
{
	if (width > WHOLE)
		return n * (LOWER / 8) + (n * (width - LOWER) + 7) / 8;
	return (n * width + 7) / 8;
}

/* Where bits go, and those that do not fill 8 bytes yet. */
struct writer {
	unsigned char *to;
	uint64_t held;
	unsigned fill;
};

static inline void writer_put(struct writer *w, uint64_t value, unsigned width)
{
	w->held |= value << w->fill;
	w->fill += width;
	if (w->fill < 64)
		return;
	store64(w->to, w->held);
	w->to += sizeof(w->held);
	w->fill -= 64;
	w->held = value >> (width - w->fill);
}

static unsigned char *whole_put(unsigned char *to, const uint64_t *values, size_t n, unsigned width,
				uint64_t reference)
{
	struct writer w = {to, 0, 0};
	size_t i = 0;

	/* Two at once where they fit. */
	for (; width <= WHOLE / 2 && i + 1 < n; i += 2)
		writer_put(&w, (values[i] - reference) | (values[i + 1] - reference) << width,
			   2 * width);
	for (; i < n; i++)
		writer_put(&w, values[i] - reference, width);
	store64(w.to, w.held);
	return to + bits_bytes(n, width);
}

unsigned char *bits_put(unsigned char *to, uint64_t *values, size_t n, unsigned width,
			uint64_t reference)
{
	uint64_t upper[BITS_VALUES];

	if (width == 0)
		return to;
	if (width <= WHOLE)
		return whole_put(to, values, n, width, reference);
	for (size_t i = 0; i < n; i++) {
		upper[i] = (values[i] - reference) >> LOWER;
		values[i] = (values[i] - reference) & UINT32_MAX;
	}
	to = whole_put(to, values, n, LOWER, 0);
	return whole_put(to, upper, n, width - LOWER, 0);
}

static void whole_get(const unsigned char *from, const unsigned char *end, uint64_t *values,
		      size_t n, unsigned width, uint64_t reference)
{
	size_t room = (size_t)(end - from), i = 0, bit = 0;
	uint64_t mask = (UINT64_C(1) << width) - 1;
	/* So many have 8 bytes from where they begin. */
	size_t words = room < sizeof(mask) ? 0 : ((room - sizeof(mask)) * 8 + 7) / width + 1;

	for (words = words < n ? words : n; i < words; i++, bit += width)
		values[i] = reference + (load64(from + bit / 8) >> bit % 8 & mask);
	for (; i < n; i++, bit += width) {
		unsigned char last[sizeof(mask)] = {0};

		memcpy(last, from + bit / 8, room - bit / 8);
		values[i] = reference + (load64(last) >> bit % 8 & mask);
	}
}

void bits_get(const unsigned char *from, const unsigned char *end, uint64_t *values, size_t n,
	      unsigned width, uint64_t reference)
{
	uint64_t upper[BITS_VALUES];

	if (width == 0) {
		for (size_t i = 0; i < n; i++)
			values[i] = reference;
	} else if (width <= WHOLE) {
		whole_get(from, end, values, n, width, reference);
	} else {
		whole_get(from, end, values, n, LOWER, reference);
		whole_get(from + bits_bytes(n, LOWER), end, upper, n, width - LOWER, 0);
		for (size_t i = 0; i < n; i++)
			values[i] += upper[i] << LOWER;
	}
}
