/* SPDX-License-Identifier: BSD-3-Clause */
/* A reader of columns that goes bit by bit, by what tree/data/columns.h says. */
#ifndef EVSPACE_TESTS_COLUMNS_NAIVE_H
#define EVSPACE_TESTS_COLUMNS_NAIVE_H

#include <string.h>

#include "tree/data/run.h"

struct naive {
	const unsigned char *data;
	size_t bytes, bit;
	bool broken;
};

static inline uint64_t naive_bits(struct naive *r, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++, r->bit++) {
		if (r->bit / 8 >= r->bytes) {
			r->broken = true;
			return 0;
		}
		value |= (uint64_t)(r->data[r->bit / 8] >> r->bit % 8 & 1) << i;
	}
	return value;
}

static inline uint64_t naive_number(struct naive *r)
{
	uint64_t value = 0, byte = 0x80;

	for (unsigned i = 0; i < 10 && byte & 0x80; i++) {
		byte = naive_bits(r, 8);
		value |= (byte & 0x7f) << 7 * i;
	}
	r->broken |= byte >= 0x80;
	return value & 1 ? ~(value >> 1) : value >> 1;
}

static inline void naive_column(struct naive *r, uint64_t *values, size_t n, uint64_t before,
				const uint64_t *starts)
{
	uint64_t how = naive_bits(r, 8), first = 0, reference;
	size_t from = how >= 128;
	unsigned width = how & 127, lower = width > 56 ? 32 : width;

	if (from)
		first = naive_number(r);
	reference = naive_number(r);
	r->broken |= width > 64;
	for (size_t i = from; i < n && !r->broken; i++)
		values[i] = naive_bits(r, lower);
	r->bit = (r->bit + 7) / 8 * 8;
	for (size_t i = from; i < n && !r->broken; i++)
		values[i] += width > 56 ? naive_bits(r, width - 32) << 32 : 0;
	r->bit = (r->bit + 7) / 8 * 8;
	if (from)
		values[0] = before + first;
	for (size_t i = from; i < n; i++)
		values[i] += reference + (from ? values[i - 1] : starts ? starts[i] : before);
}

/* By kind: where its columns are, how wide, and which are times after the start, by bits. */
static const struct naive_kind {
	unsigned kind, n, since;
	size_t record;
	unsigned char at[15], width[15];
} naive_kinds[] = {
	{RUN_TUPLES, 8, 0x2, 40, {0, 8, 16, 24, 28, 32, 36, 38}, {8, 8, 8, 4, 4, 4, 2, 2}},
	{RUN_NEWEST, 9, 0x2, 48, {8, 16, 24, 32, 36, 40, 44, 46, 0}, {8, 8, 8, 4, 4, 4, 2, 2, 8}},
	{RUN_MEETS,
	 15,
	 0x1e,
	 80,
	 {0, 8, 16, 24, 32, 40, 48, 56, 60, 64, 68, 72, 76, 78, 79},
	 {8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 2, 1, 1}},
};

static inline const struct naive_kind *naive_kind(unsigned kind)
{
	for (size_t i = 0; i < sizeof(naive_kinds) / sizeof(naive_kinds[0]); i++) {
		if (naive_kinds[i].kind == kind)
			return &naive_kinds[i];
	}
	return NULL;
}

static inline bool naive_sound(unsigned kind, const unsigned char *records, size_t n)
{
	for (size_t i = 0; kind == RUN_MEETS && i < n; i++) {
		struct meet meet;

		memcpy(&meet, records + i * sizeof(meet), sizeof(meet));
		if (!meet_sound(&meet))
			return false;
	}
	return true;
}

/* Returns how many records there are, 0: these are no columns. */
static inline size_t naive_get(const unsigned char *data, size_t bytes, unsigned *kind,
			       void *records)
{
	struct naive r = {.data = data, .bytes = bytes};
	uint64_t last[15] = {0}, starts[128], values[128];
	size_t count = naive_bits(&r, 16), n;
	const struct naive_kind *k;
	unsigned char *to = records;

	*kind = (unsigned)naive_bits(&r, 8);
	k = naive_kind(*kind);
	if (naive_bits(&r, 8) || !k)
		return 0;
	for (size_t done = 0; done < count && !r.broken; done += n, to += n * k->record) {
		uint64_t there = naive_bits(&r, 16);

		n = count - done < 128 ? count - done : 128;
		r.broken |= there >> k->n > 0;
		for (size_t c = 0; c < k->n && !r.broken; c++) {
			for (size_t i = 0; i < n; i++)
				values[i] = last[c];
			if (there >> c & 1)
				naive_column(&r, values, n, last[c],
					     k->since >> c & 1 ? starts : NULL);
			last[c] = values[n - 1];
			if (c == 0)
				memcpy(starts, values, sizeof(starts));
			for (size_t i = 0; i < n && !r.broken; i++)
				memcpy(to + i * k->record + k->at[c], &values[i], k->width[c]);
		}
	}
	r.broken |= !r.broken && !naive_sound(*kind, records, count);
	if (r.broken || bytes - r.bit / 8 >= 8)
		return 0;
	return naive_bits(&r, (unsigned)(bytes * 8 - r.bit)) ? 0 : count;
}

#endif
