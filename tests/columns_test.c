/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests columns: whatever is in tuples comes out again, by a second reader of the format, too; what
 * is none is refused, and nothing is read or written beyond. */
#include "tree/data/columns.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST 700u

static uint64_t seed = 1;

/* ---- a reader that goes bit by bit, by what tree/data/columns.h says ---- */

struct naive {
	const unsigned char *data;
	size_t bytes, bit;
	bool broken;
};

static uint64_t naive_bits(struct naive *r, unsigned n)
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

static uint64_t naive_number(struct naive *r)
{
	uint64_t value = 0, byte = 0x80;

	for (unsigned i = 0; i < 10 && byte & 0x80; i++) {
		byte = naive_bits(r, 8);
		value |= (byte & 0x7f) << 7 * i;
	}
	r->broken |= byte >= 0x80;
	return value & 1 ? ~(value >> 1) : value >> 1;
}

static void naive_column(struct naive *r, uint64_t *values, size_t n, uint64_t before,
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

static const size_t widths[] = {8, 8, 8, 4, 4, 4, 2, 2, 8};

/* Returns how many records there are, 0: these are no columns. */
static size_t naive_get(const unsigned char *data, size_t bytes, unsigned *kind, void *records)
{
	struct naive r = {.data = data, .bytes = bytes};
	uint64_t last[9] = {0}, starts[128], values[128];
	size_t count = naive_bits(&r, 16), n, columns, record, at;
	unsigned char *to = records;

	*kind = (unsigned)naive_bits(&r, 8);
	if (naive_bits(&r, 8) || (*kind != RUN_TUPLES && *kind != RUN_NEWEST))
		return 0;
	columns = *kind == RUN_NEWEST ? 9 : 8;
	record = *kind == RUN_NEWEST ? 48 : 40;
	for (size_t done = 0; done < count && !r.broken; done += n, to += n * record) {
		uint64_t there = naive_bits(&r, 16);

		n = count - done < 128 ? count - done : 128;
		r.broken |= there >> columns > 0;
		at = record - 40;
		for (size_t c = 0; c < columns && !r.broken; at += widths[c++]) {
			for (size_t i = 0; i < n; i++)
				values[i] = last[c];
			if (there >> c & 1)
				naive_column(&r, values, n, last[c], c == 1 ? starts : NULL);
			last[c] = values[n - 1];
			if (c == 0)
				memcpy(starts, values, sizeof(starts));
			for (size_t i = 0; i < n && !r.broken; i++)
				memcpy(to + i * record + (c == 8 ? 0 : at), &values[i], widths[c]);
		}
	}
	if (r.broken || bytes - r.bit / 8 >= 8)
		return 0;
	return naive_bits(&r, (unsigned)(bytes * 8 - r.bit)) ? 0 : count;
}

/* ---- records ---- */

static uint64_t special(void)
{
	static const uint64_t values[] = {0,	      1,	 UINT64_MAX,
					  INT64_MAX,  INT32_MAX, (uint64_t)INT64_MIN,
					  UINT32_MAX, 0x80000000};

	return values[random_below(&seed, 8)];
}

/* Words of all kinds: how they are differs from one column to the next. */
static void records_make(unsigned char *records, size_t n, size_t record)
{
	for (size_t at = 0; at < record; at += 4) {
		uint64_t how = random_below(&seed, 7), now = random_below(&seed, UINT64_MAX);
		uint64_t most = UINT64_C(1) << random_below(&seed, 64);

		for (size_t i = 0; i < n; i++) {
			uint64_t value = how == 0   ? special()
					 : how == 1 ? random_below(&seed, UINT64_MAX)
					 : how == 2 ? now
					 : how == 3 ? now + random_below(&seed, most)
					 : how == 4 ? (now += random_below(&seed, most))
					 : how == 5 ? now + i / 200 * most
						    : i % 2;

			memcpy(records + i * record + at, &value, 4);
		}
	}
}

/* Exactly so many bytes, so that what is read or written beyond is found by a sanitizer. */
static void *copy_exactly(const void *data, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	if (!copy)
		abort();
	memcpy(copy, data, bytes);
	return copy;
}

static void expect_same(unsigned kind, const unsigned char *records, size_t n)
{
	size_t record = run_record_bytes(kind), room = columns_room(kind, n), bytes;
	unsigned char *to = malloc(room), *back = malloc(n * record), *naive = malloc(n * record),
		      *exact;
	struct columns what = {0, 0};
	unsigned found;

	if (!to || !back || !naive)
		abort();
	bytes = columns_put(kind, records, n, to);
	CU_ASSERT(bytes <= room);
	CU_ASSERT_EQUAL(bytes % 8, 0);
	exact = copy_exactly(to, bytes);
	free(to);
	to = exact;
	CU_ASSERT_EQUAL_FATAL(columns_get(to, bytes, &what, NULL, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(what.kind, kind);
	CU_ASSERT_EQUAL_FATAL(what.count, n);
	CU_ASSERT_EQUAL(columns_get(to, bytes, &what, back, NULL), 0);
	CU_ASSERT_EQUAL(memcmp(back, records, n * record), 0);
	CU_ASSERT_EQUAL(naive_get(to, bytes, &found, naive), n);
	CU_ASSERT_EQUAL(found, kind);
	CU_ASSERT_EQUAL(memcmp(naive, records, n * record), 0);
	free(to);
	free(back);
	free(naive);
}

static void all_comes_out_again(void)
{
	static const size_t sizes[] = {1, 2, 3, 8, 127, 128, 129, 256, 257, MOST};
	unsigned char *records = malloc(MOST * sizeof(struct newest));

	for (unsigned round = 0; round < 60; round++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			unsigned kind = round % 2 ? RUN_TUPLES : RUN_NEWEST;

			records_make(records, sizes[i], run_record_bytes(kind));
			expect_same(kind, records, sizes[i]);
		}
	free(records);
	records = calloc(UINT16_MAX, sizeof(struct tuple));
	records_make(records, UINT16_MAX, sizeof(struct tuple));
	expect_same(RUN_TUPLES, records, UINT16_MAX);
	free(records);
}

/* As a thread makes them: one after the other, of a few kinds and sizes. */
static void tuples_like_real_ones(struct tuple *tuples, size_t n)
{
	uint64_t now = UINT64_C(123456789012345);

	for (size_t i = 0; i < n; i++) {
		now += 2000 + random_below(&seed, 3000);
		tuples[i] = (struct tuple){
			.start = now,
			.end = now + 500 + random_below(&seed, 1000),
			.bytes = 8192,
			.peer = i % 2 ? 3 : 5,
			.seq_or_tag = (uint32_t)i,
			.comm = 0xdeadbeef,
			.op = (uint16_t)(10 + i % 4),
		};
		now = tuples[i].end;
	}
}

static void few_bytes_a_tuple(void)
{
	struct tuple tuples[1000];
	unsigned char to[1000 * sizeof(struct tuple) + 4096];
	size_t bytes;

	tuples_like_real_ones(tuples, 1000);
	/* 12 bits from one to the next, 10 that it takes, 2 of peer and 2 of operation; the rest is
	 * heads. */
	bytes = columns_put(RUN_TUPLES, tuples, 1000, to);
	CU_ASSERT(bytes < 1000 * 4);
	for (size_t i = 0; i < 1000; i++)
		tuples[i] = tuples[0];
	CU_ASSERT(columns_put(RUN_TUPLES, tuples, 1000, to) < 100);
	/* What is random is hardly larger than it was. */
	for (size_t i = 0; i < sizeof(tuples) / 4; i++) {
		uint32_t word = (uint32_t)random_below(&seed, UINT64_MAX);

		memcpy((char *)tuples + 4 * i, &word, 4);
	}
	CU_ASSERT(columns_put(RUN_TUPLES, tuples, 1000, to) < sizeof(tuples) + 8 * 80);
}

/* ---- what is none ---- */

/* Both readers say the same of it. */
static bool agree(const unsigned char *data, size_t bytes)
{
	unsigned char *exact = copy_exactly(data, bytes), *records, *naive;
	struct columns what = {RUN_TUPLES, 0};
	struct error e = {""};
	unsigned kind;
	size_t count;
	bool sound;

	errno = 0;
	sound = columns_get(exact, bytes, &what, NULL, &e) == 0;
	CU_ASSERT(sound || (errno == EPROTO && e.text[0]));
	naive = malloc(UINT16_MAX * sizeof(struct newest));
	count = bytes < 4 ? 0 : naive_get(exact, bytes, &kind, naive);
	CU_ASSERT_EQUAL(sound, count > 0);
	if (sound && count > 0) {
		size_t all = count * run_record_bytes(kind);

		records = malloc(all);
		CU_ASSERT_EQUAL(what.count, count);
		CU_ASSERT_EQUAL(columns_get(exact, bytes, &what, records, &e), 0);
		CU_ASSERT_EQUAL(memcmp(records, naive, all), 0);
		free(records);
	}
	free(naive);
	free(exact);
	return sound;
}

static void damaged_ones(void)
{
	struct newest records[200];
	unsigned char data[200 * sizeof(struct newest) + 4096];
	unsigned sound = 0, broken = 0;

	for (unsigned round = 0; round < 4000; round++) {
		unsigned kind = round % 2 ? RUN_TUPLES : RUN_NEWEST;
		size_t n = 1 + random_below(&seed, 200), bytes;

		if (round % 3)
			tuples_like_real_ones((struct tuple *)records, n);
		else
			records_make((unsigned char *)records, n, run_record_bytes(kind));
		bytes = columns_put(kind, records, n, data);
		for (uint64_t i = 1 + random_below(&seed, 3); i > 0; i--)
			data[random_below(&seed, random_below(&seed, 2) ? bytes : 24)] =
				(unsigned char)random_below(&seed, 256);
		if (round % 5 == 0)
			bytes = random_below(&seed, bytes + 1);
		if (agree(data, bytes))
			sound++;
		else
			broken++;
	}
	CU_ASSERT(sound > 100);
	CU_ASSERT(broken > 100);
}

static void what_is_none_is_refused(void)
{
	/* One tuple: peer, by a column of no bits and a number. */
	static const unsigned char good[] = {1, 0, RUN_TUPLES, 0, 8, 0, 0, 14};
	static const struct {
		size_t at;
		unsigned char byte;
		bool sound;
	} cases[] = {
		{0, 0, false},	       /* no records */
		{0, 128, true},	       /* many */
		{0, 129, false},       /* a second block, that is not there */
		{2, RUN_NEWEST, true}, /* the same of newest tuples */
		{2, RUN_PART, false},  /* no columns of these */
		{2, RUN_KINDS, false}, /* … nor of what does not exist */
		{3, 1, false},	       /* … nor anything here */
		{4, 0, false},	       /* padding that is not zero */
		{5, 1, false},	       /* a column that tuples do not have */
		{6, 1, false},	       /* bits that are not there */
		{6, 65, false},	       /* too wide */
		{6, 128, false},       /* steps: a number that is not there */
		{7, 128, false},       /* a number that does not end */
	};

	CU_ASSERT(agree(good, sizeof(good)));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char data[sizeof(good)];

		memcpy(data, good, sizeof(good));
		data[cases[i].at] = cases[i].byte;
		CU_ASSERT_EQUAL(agree(data, sizeof(data)), cases[i].sound);
	}
	CU_ASSERT(columns_possible(RUN_NEWEST) && !columns_possible(RUN_PART));
	CU_ASSERT_EQUAL(columns_head(good).count, 1);
	for (size_t bytes = 0; bytes < sizeof(good); bytes++)
		CU_ASSERT_FALSE(agree(good, bytes));
}

static CU_TestInfo columns_cases[] = {
	{"whatever is in records comes out again", all_comes_out_again},
	{"few bytes a tuple, none for what does not change", few_bytes_a_tuple},
	{"of damaged ones two readers say the same", damaged_ones},
	{"what is none is refused", what_is_none_is_refused},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "columns", .pTests = columns_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
