/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns: which differences of a column are the smallest, bits packed and unpacked. */
#include "tree/data/columns.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tree/data/bits.h"
#include "tree/data/columns-table.h"

/* Bytes before the first block; of a block its head, and of a column what comes before its bits. */
#define HEAD	    4u
#define BLOCK_HEAD  2u
#define NUMBER_MOST 10u
#define COLUMN_HEAD (1 + 2 * NUMBER_MOST)

_Static_assert(COLUMNS_BLOCK <= BITS_VALUES, "a block is put and got at once");

#define WORD  sizeof(uint64_t)
#define WORDS (COLUMNS_BYTES / WORD)

bool columns_possible(unsigned kind)
{
	return kind < RUN_KINDS && columns_tables[kind].n > 0;
}

size_t columns_room(enum run_kind kind, size_t n)
{
	size_t blocks = (n + COLUMNS_BLOCK - 1) / COLUMNS_BLOCK;

	return HEAD + n * run_record_bytes(kind) +
	       blocks * (BLOCK_HEAD + columns_tables[kind].n * (COLUMN_HEAD + 1)) + 2 * BITS_SPARE;
}

/* ---- numbers ---- */

static unsigned char *number_put(unsigned char *to, uint64_t value)
{
	value = value << 1 ^ -(value >> 63);
	while (value > 0x7f) {
		*to++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*to++ = (unsigned char)value;
	return to;
}

static unsigned width_of(uint64_t range)
{
	return range ? 64 - (unsigned)__builtin_clzll(range) : 0;
}

/* ---- into columns ---- */

/* Find the bits that are not the same in all records, into the words of @changes. Inline, so that
 * the number of words is known. */
static inline void words_compare(const unsigned char *records, size_t n, size_t words,
				 uint64_t *changes)
{
	uint64_t first[WORDS], word[WORDS], found[WORDS] = {0};

	memcpy(first, records, words * WORD);
	for (size_t i = 1; i < n; i++) {
		memcpy(word, records + i * words * WORD, words * WORD);
#pragma GCC unroll 6
		for (size_t w = 0; w < words; w++)
			found[w] |= word[w] ^ first[w];
	}
	memcpy(changes, found, words * WORD);
}

static void records_compare(enum run_kind kind, const unsigned char *records, size_t n,
			    uint64_t *changes)
{
	if (kind == RUN_NEWEST)
		words_compare(records, n, sizeof(struct newest) / WORD, changes);
	else if (kind == RUN_MEETS)
		words_compare(records, n, sizeof(struct meet) / WORD, changes);
	else
		words_compare(records, n, sizeof(struct tuple) / WORD, changes);
}

static bool column_varies(const struct column *c, const uint64_t *changes)
{
	uint64_t bits = 0;

	memcpy(&bits, (const unsigned char *)changes + c->at, c->bytes);
	return bits != 0;
}

/* One field of all records, as it is taken for a number. */
static void column_gather(const struct column *c, const unsigned char *records, size_t stride,
			  size_t n, uint64_t *values)
{
	const unsigned char *from = records + c->at;

	switch (c->bytes) {
	case 8:
#pragma GCC unroll 4
		for (size_t i = 0; i < n; i++, from += stride)
			memcpy(&values[i], from, 8);
		break;
	case 4:
#pragma GCC unroll 4
		for (size_t i = 0; i < n; i++, from += stride) {
			int32_t v;

			memcpy(&v, from, 4);
			values[i] = (uint64_t)v;
		}
		break;
	case 2:
#pragma GCC unroll 4
		for (size_t i = 0; i < n; i++, from += stride) {
			uint16_t v;

			memcpy(&v, from, 2);
			values[i] = v;
		}
		break;
	default:
		for (size_t i = 0; i < n; i++, from += stride)
			values[i] = *from;
	}
}

/* How long after the record's start @time is: what a tuple has taken, of its `end`. */
static void since_gather(const struct column *start, const struct column *time,
			 const unsigned char *records, size_t stride, size_t n, uint64_t *values)
{
	const unsigned char *from = records + start->at, *to = records + time->at;

#pragma GCC unroll 4
	for (size_t i = 0; i < n; i++, from += stride, to += stride) {
		uint64_t times[2];

		memcpy(&times[0], from, WORD);
		memcpy(&times[1], to, WORD);
		values[i] = times[1] - times[0];
	}
}

struct extremes {
	int64_t least, most;
};

static void extremes_add(struct extremes *r, uint64_t value)
{
	int64_t v = (int64_t)value;

	r->least = v < r->least ? v : r->least;
	r->most = v > r->most ? v : r->most;
}

/* Two and two: a comparison does not wait for the one before. */
static struct extremes extremes_of(const uint64_t *values, size_t n)
{
	struct extremes a = {(int64_t)values[0], (int64_t)values[0]}, b = a;

#pragma GCC unroll 2
	for (size_t i = 1; i + 1 < n; i += 2) {
		extremes_add(&a, values[i]);
		extremes_add(&b, values[i + 1]);
	}
	extremes_add(&a, values[n - 1]);
	extremes_add(&a, (uint64_t)b.least);
	extremes_add(&a, (uint64_t)b.most);
	return a;
}

/* Do they go on evenly, as sequence numbers do? By the looks of it: either way comes out right. */
static bool values_are_even(const uint64_t *values, size_t n)
{
	return values[n - 1] - values[0] == (values[1] - values[0]) * (n - 1);
}

/* @last: what the first value is relative to. @steps: take what each is more than the one before.
 * The values are changed. */
static unsigned char *column_put(unsigned char *to, bool steps, uint64_t *values, size_t n,
				 uint64_t last)
{
	unsigned char *how = to++;
	struct extremes range;
	unsigned width;

	*how = 0;
	if (n > 1 && steps) {
		*how = COLUMNS_STEPS;
		to = number_put(to, values[0] - last);
		last = 0;
		n--;
#pragma GCC unroll 4
		for (size_t i = 0; i < n; i++)
			values[i] = values[i + 1] - values[i];
	}
	range = extremes_of(values, n);
	width = width_of((uint64_t)range.most - (uint64_t)range.least);
	*how |= (unsigned char)width;
	to = number_put(to, (uint64_t)range.least - last);
	return bits_put(to, values, n, width, (uint64_t)range.least);
}

static unsigned char *block_put(enum run_kind kind, const unsigned char *records, size_t n,
				uint64_t *last, unsigned char *to)
{
	const struct column *table = columns_tables[kind].columns;
	const size_t stride = run_record_bytes(kind);
	uint64_t values[COLUMNS_BLOCK], changes[WORDS];
	unsigned char *head = to;
	uint16_t there = 0;

	records_compare(kind, records, n, changes);
	to += BLOCK_HEAD;
	for (unsigned c = 0; c < columns_tables[kind].n; c++) {
		const bool varies = column_varies(&table[c], changes);
		const uint64_t before = last[c];

		column_gather(&table[c], records + (n - 1) * stride, stride, 1, &last[c]);
		if (!varies && last[c] == before)
			continue;
		there |= (uint16_t)(1u << c);
		if (table[c].since) {
			since_gather(&table[COLUMNS_START], &table[c], records, stride, n, values);
			to = column_put(to, false, values, n, 0);
		} else {
			const size_t some = varies ? n : 1;

			column_gather(&table[c], records, stride, some, values);
			to = column_put(
				to, c == COLUMNS_START || (some > 1 && values_are_even(values, n)),
				values, some, before);
		}
	}
	there = htole16(there);
	memcpy(head, &there, sizeof(there));
	return to;
}

size_t columns_put(enum run_kind kind, const void *records, size_t n, unsigned char *to)
{
	const unsigned char *from = records;
	unsigned char *begin = to;
	uint64_t last[COLUMNS_MOST] = {0};
	uint16_t count = htole16((uint16_t)n);

	memcpy(to, &count, sizeof(count));
	to[2] = (unsigned char)kind;
	to[3] = 0;
	to += HEAD;
	while (n > 0) {
		size_t some = n < COLUMNS_BLOCK ? n : COLUMNS_BLOCK;

		to = block_put(kind, from, some, last, to);
		from += some * run_record_bytes(kind);
		n -= some;
	}
	while ((to - begin) % 8)
		*to++ = 0;
	return (size_t)(to - begin);
}

/* ---- and back ---- */

/* What is left to be read. */
struct left {
	const unsigned char *at, *end;
};

/* Returns false where nothing of the kind is there. */
static bool number_get(struct left *left, uint64_t *value)
{
	uint64_t got = 0;

	for (unsigned shift = 0; shift < 7 * NUMBER_MOST && left->at < left->end; shift += 7) {
		unsigned char c = *left->at++;

		got |= (uint64_t)(c & 0x7f) << shift;
		if (c & 0x80)
			continue;
		*value = got >> 1 ^ -(got & 1);
		return true;
	}
	return false;
}

/* @values NULL: only look. Returns false where not all are there. */
static bool values_get(struct left *left, uint64_t *values, size_t n, unsigned width,
		       uint64_t reference)
{
	size_t bytes = bits_bytes(n, width);

	if (width > 64 || bytes > (size_t)(left->end - left->at))
		return false;
	if (values)
		bits_get(left->at, left->end, values, n, width, reference);
	left->at += bytes;
	return true;
}

/* @values NULL: only look. */
static bool column_get(struct left *left, uint64_t *values, size_t n, uint64_t last,
		       const uint64_t *starts)
{
	uint64_t first = 0, reference;
	unsigned char how;

	if (left->at == left->end)
		return false;
	how = *left->at++;
	if (how & COLUMNS_STEPS) {
		if (!number_get(left, &first) || !number_get(left, &reference) ||
		    !values_get(left, values ? values + 1 : NULL, n - 1, how & ~COLUMNS_STEPS,
				reference))
			return false;
		if (!values)
			return true;
		values[0] = last + first;
		for (size_t i = 1; i < n; i++)
			values[i] += values[i - 1];
		return true;
	}
	if (!number_get(left, &reference) ||
	    !values_get(left, values, n, how, reference + (starts ? 0 : last)))
		return false;
	for (size_t i = 0; values && starts && i < n; i++)
		values[i] += starts[i];
	return true;
}

static void column_scatter(const struct column *c, unsigned char *records, size_t stride, size_t n,
			   const uint64_t *values)
{
	unsigned char *to = records + c->at;

	switch (c->bytes) {
	case 8:
		for (size_t i = 0; i < n; i++, to += stride)
			memcpy(to, &values[i], 8);
		break;
	case 4:
		for (size_t i = 0; i < n; i++, to += stride) {
			uint32_t v = (uint32_t)values[i];

			memcpy(to, &v, 4);
		}
		break;
	case 2:
		for (size_t i = 0; i < n; i++, to += stride) {
			uint16_t v = (uint16_t)values[i];

			memcpy(to, &v, 2);
		}
		break;
	default:
		for (size_t i = 0; i < n; i++, to += stride)
			*to = (unsigned char)values[i];
	}
}

/* All records are as their columns were last: this is all that those which are not there need. */
static void records_fill(enum run_kind kind, unsigned char *records, size_t n, const uint64_t *last)
{
	unsigned char like[COLUMNS_BYTES] = {0};

	for (unsigned c = 0; c < columns_tables[kind].n; c++)
		column_scatter(&columns_tables[kind].columns[c], like, 0, 1, &last[c]);
	for (size_t i = 0; kind == RUN_TUPLES && i < n; i++)
		memcpy(records + i * sizeof(struct tuple), like, sizeof(struct tuple));
	for (size_t i = 0; kind == RUN_NEWEST && i < n; i++)
		memcpy(records + i * sizeof(struct newest), like, sizeof(struct newest));
	for (size_t i = 0; kind == RUN_MEETS && i < n; i++)
		memcpy(records + i * sizeof(struct meet), like, sizeof(struct meet));
}

/* @records NULL: only look. */
static bool block_get(struct left *left, enum run_kind kind, unsigned char *records, size_t n,
		      uint64_t *last)
{
	const struct column *table = columns_tables[kind].columns;
	size_t stride = run_record_bytes(kind);
	uint64_t starts[COLUMNS_BLOCK], others[COLUMNS_BLOCK];
	unsigned there;

	if (left->end - left->at < (ptrdiff_t)BLOCK_HEAD)
		return false;
	there = left->at[0] | (unsigned)left->at[1] << 8;
	left->at += BLOCK_HEAD;
	if (there >> columns_tables[kind].n)
		return false;
	for (size_t i = 0; i < n && !(there & 1u << COLUMNS_START); i++)
		starts[i] = last[COLUMNS_START];
	if (records)
		records_fill(kind, records, n, last);
	for (unsigned c = 0; c < columns_tables[kind].n; c++) {
		/* cppcheck-suppress legacyUninitvar */
		uint64_t *values = !records ? NULL : c == COLUMNS_START ? starts : others;

		if (!(there & 1u << c))
			continue;
		if (!column_get(left, values, n, last[c], table[c].since ? starts : NULL))
			return false;
		if (!records)
			continue;
		last[c] = values[n - 1];
		column_scatter(&table[c], records, stride, n, values);
	}
	return true;
}

struct columns columns_head(const unsigned char *data)
{
	return (struct columns){data[2], data[0] | (uint32_t)data[1] << 8};
}

size_t columns_plain(const struct run *run, const unsigned char *records)
{
	struct columns what = {run->kind, run->count};

	if (run->kind == RUN_COLUMNS)
		what = columns_head(records);
	return run_head(run) + what.count * run_record_bytes(what.kind);
}

static int broken(struct error *e)
{
	errno = EPROTO;
	return errorf(e, "columns that are none");
}

/* Of kinds that are not anything, as tuples are. */
static bool records_are_sound(enum run_kind kind, const unsigned char *records, size_t n)
{
	const struct run_record *record = &run_records[kind];

	for (size_t i = 0; i < n; i++) {
		if (!record->sound(records + i * record->bytes))
			return false;
	}
	return true;
}

int columns_get(const unsigned char *data, size_t bytes, struct columns *what, void *records,
		struct error *e)
{
	_Alignas(WORD) unsigned char block[COLUMNS_BLOCK * COLUMNS_BYTES];
	struct left left = {data + HEAD, data + bytes};
	uint64_t last[COLUMNS_MOST] = {0};
	unsigned char *to = records;
	bool checks;
	size_t n;

	if (bytes < HEAD || !columns_possible(data[2]) || data[3])
		return broken(e);
	*what = columns_head(data);
	checks = !records && run_records[what->kind].sound;
	for (size_t at = 0; at < what->count; at += n) {
		n = what->count - at < COLUMNS_BLOCK ? what->count - at : COLUMNS_BLOCK;
		if (!block_get(&left, what->kind, checks ? block : to, n, last) ||
		    (checks && !records_are_sound(what->kind, block, n)))
			return broken(e);
		to = to ? to + n * run_record_bytes(what->kind) : NULL;
	}
	if (what->count == 0 || left.end - left.at >= 8)
		return broken(e);
	while (left.at < left.end) {
		if (*left.at++)
			return broken(e);
	}
	return 0;
}
