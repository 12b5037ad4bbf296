/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests columns: whatever is in tuples comes out again, by a second reader of the format, too; what
 * is none is refused, and nothing is read or written beyond. */
#include "tree/data/columns.h"
#include "tree/data/columns-batch.h"
#include "tests/columns-naive.h"
#include "tests/columns-records.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST 700u

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

/* Where starts are as before the block, at first 0, their column is not in it: what `end` is put
 * relative to is known all the same. The other way round, too. */
static void times_of_which_one_changes(void)
{
	struct tuple tuples[4 * COLUMNS_BLOCK];
	struct newest newest[4 * COLUMNS_BLOCK];
	const size_t n = sizeof(tuples) / sizeof(tuples[0]);

	for (unsigned how = 0; how < 8; how++) {
		const uint64_t begin = how & 1 ? UINT64_C(123456789012345) : 0;

		memset(tuples, 0, sizeof(tuples));
		memset(newest, 0, sizeof(newest));
		for (size_t i = 0; i < n; i++) {
			uint64_t *const changes = how & 2 ? &tuples[i].start : &tuples[i].end;

			tuples[i].start = tuples[i].end = begin;
			/* in all blocks, or every other one */
			if (how & 4 || i / COLUMNS_BLOCK % 2 == 0)
				*changes += random_below(&seed, 5000);
			newest[i].tuple = tuples[i];
		}
		expect_same(RUN_TUPLES, (const unsigned char *)tuples, n);
		expect_same(RUN_NEWEST, (const unsigned char *)newest, n);
	}
}

static void meets_come_out_again(void)
{
	struct meet meets[MOST];
	unsigned char to[MOST * sizeof(struct meet) + 4096];
	struct columns what;
	size_t bytes;

	for (size_t n = 1; n <= MOST; n += 23) {
		meets_like_real_ones(meets, n);
		expect_same(RUN_MEETS, (const unsigned char *)meets, n);
	}
	meets_like_real_ones(meets, MOST);
	CU_ASSERT(columns_put(RUN_MEETS, meets, MOST, to) < MOST * 16);
	/* of what is no meet, whatever is wrong is found in the last block, too */
	meets[MOST - 1].last = meets[MOST - 1].start - 1;
	bytes = columns_put(RUN_MEETS, meets, MOST, to);
	CU_ASSERT_EQUAL(columns_get(to, bytes, &what, NULL, NULL), -1);
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
	naive = malloc(UINT16_MAX * sizeof(struct meet));
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
	static const unsigned kinds[] = {RUN_TUPLES, RUN_NEWEST, RUN_MEETS};
	struct meet records[200];
	unsigned char data[200 * sizeof(struct meet) + 4096];
	unsigned sound = 0, broken = 0;

	for (unsigned round = 0; round < 6000; round++) {
		unsigned kind = kinds[round % 3];
		size_t n = 1 + random_below(&seed, 200), bytes;

		if (kind == RUN_MEETS)
			meets_like_real_ones(records, n);
		else if (round % 4)
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

/* ---- in batches ---- */

static void part_add(struct batch *b)
{
	*(struct part *)batch_add(b, RUN_PART, 1, 7, 1, 0) = (struct part){.clock = CLOCK_LINE_NS};
}

/* Runs that become columns, and some that do not. */
static void batch_make(struct batch *b)
{
	struct newest *newest;

	batch_init(b);
	part_add(b);
	tuples_like_real_ones(batch_add(b, RUN_TUPLES, 1, 100, 400, 5), 400);
	b->last->flags |= RUN_SPARSE;
	batch_discard(b, 2, 30, 10);
	tuples_like_real_ones(batch_add(b, RUN_TUPLES, 3, 1, 2, 0), 2);
	records_make(batch_add(b, RUN_TUPLES, 4, 1, 12, 0), 12, sizeof(struct tuple));
	part_add(b);
	newest = batch_add(b, RUN_NEWEST, 5, 0, 50, 0);
	for (unsigned i = 0; i < 50; i++) {
		newest[i].number = 70 + i;
		tuples_like_real_ones(&newest[i].tuple, 1);
	}
	tuples_like_real_ones(batch_add(b, RUN_TUPLES, 90, 1, 9000, 0), 9000);
}

static void expect_batches_alike(const struct batch *a, const struct batch *b)
{
	struct batch_cursor of_a = {0}, of_b = {0};
	struct run_view x, y;

	CU_ASSERT_EQUAL(a->bytes, b->bytes);
	while (batch_next_packed(a, &of_a, &x)) {
		CU_ASSERT_EQUAL_FATAL(batch_next_packed(b, &of_b, &y), 1);
		CU_ASSERT_EQUAL_FATAL(x.bytes, y.bytes);
		CU_ASSERT_EQUAL(memcmp(x.run, y.run, x.bytes), 0);
	}
	CU_ASSERT_EQUAL(batch_next_packed(b, &of_b, &y), 0);
}

/* All bytes of a batch one behind the other, as they are on the wire. */
static struct buffer *sent(const struct batch *b)
{
	struct buffer *to = buffer_new(b->bytes);

	for (size_t i = 0; i < b->n; i++) {
		memcpy(to->data + to->used, b->extents[i].buffer->data + b->extents[i].at,
		       b->extents[i].bytes);
		to->used += b->extents[i].bytes;
	}
	return to;
}

static void runs_through_columns(void)
{
	struct batch plain, packed, linked, got;
	size_t all = 0;
	struct buffer *buffer;
	uint64_t as_before = seed;

	batch_make(&plain);
	seed = as_before;
	batch_make(&packed);
	columns_batch_open(&packed);
	expect_batches_alike(&packed, &plain);
	columns_batch_pack(&packed);
	CU_ASSERT_EQUAL(packed.plain, plain.bytes);
	CU_ASSERT(packed.bytes * 4 < plain.bytes);
	/* Over the wire, unopened through another batch, and once more into columns. */
	buffer = sent(&packed);
	CU_ASSERT_EQUAL(batch_check(buffer->data, buffer->used, &all, NULL), 0);
	CU_ASSERT_EQUAL(all, plain.bytes);
	batch_init(&linked);
	batch_init(&got);
	batch_append_columns(&got, buffer, 0, buffer->used, all);
	batch_link(&linked, &got);
	columns_batch_pack(&linked);
	CU_ASSERT_EQUAL(linked.bytes, packed.bytes);
	CU_ASSERT_EQUAL(linked.plain, plain.bytes);
	columns_batch_open(&linked);
	CU_ASSERT_EQUAL(linked.plain, linked.bytes);
	expect_batches_alike(&linked, &plain);
	buffer_unref(buffer);
	batch_fini(&plain);
	batch_fini(&packed);
	batch_fini(&linked);
	batch_fini(&got);
}

static void long_make(struct batch *b)
{
	batch_init(b);
	part_add(b);
	tuples_like_real_ones(batch_add(b, RUN_TUPLES, 9, 1000, UINT16_MAX, 5), UINT16_MAX);
	b->last->flags |= RUN_SPARSE;
	records_make(batch_add(b, RUN_NEWEST, 20, 0, 30000, 0), 30000, sizeof(struct newest));
	meets_like_real_ones(batch_add(b, RUN_MEETS, 7, 0, UINT16_MAX, 0), UINT16_MAX);
}

/* Columns of very many could be more words than a run may have. */
static void long_runs_are_cut(void)
{
	struct batch plain, packed;
	struct batch_cursor of_a = {0}, of_b = {0};
	struct run_view x, y = {0};
	uint64_t as_before = seed;

	long_make(&plain);
	seed = as_before;
	long_make(&packed);
	columns_batch_pack(&packed);
	CU_ASSERT(packed.bytes < plain.bytes - UINT16_MAX * 90);
	columns_batch_open(&packed);
	while (batch_next(&plain, &of_a, &x)) {
		const size_t record = run_record_bytes(x.run->kind);

		for (uint32_t i = 0; i < x.run->count; i += y.run->count) {
			CU_ASSERT_EQUAL_FATAL(batch_next(&packed, &of_b, &y), 1);
			CU_ASSERT_EQUAL(y.run->element, x.run->element);
			CU_ASSERT_EQUAL(y.run->first, run_number(x.run, i));
			CU_ASSERT_EQUAL(y.run->flags & RUN_SPARSE, x.run->flags & RUN_SPARSE);
			CU_ASSERT_EQUAL(y.lost, i == 0 ? x.lost : 0);
			CU_ASSERT_FATAL(i + y.run->count <= x.run->count);
			CU_ASSERT_EQUAL_FATAL(y.run->kind, x.run->kind);
			CU_ASSERT_EQUAL(
				memcmp(y.records, x.records + i * record, y.run->count * record),
				0);
		}
	}
	CU_ASSERT_EQUAL(batch_next(&packed, &of_b, &y), 0);
	batch_fini(&plain);
	batch_fini(&packed);
}

/* A run with @columns behind a part. */
static int columns_check(const unsigned char *columns, size_t bytes, uint32_t element,
			 unsigned flags, struct error *e)
{
	struct batch b;
	int result;

	batch_init(&b);
	part_add(&b);
	memcpy(batch_add(&b, RUN_COLUMNS, element, 1, (uint32_t)(bytes / 8), 0), columns, bytes);
	b.last->flags |= flags;
	result = batch_check(b.own->data, b.bytes, NULL, e);
	batch_fini(&b);
	return result;
}

static void runs_that_are_refused(void)
{
	unsigned char tuples[] = {1, 0, RUN_TUPLES, 0, 8, 0, 0, 14};
	unsigned char newest[] = {2, 0, RUN_NEWEST, 0, 8, 0, 0, 14};
	/* One tuple: three columns of 64 bits, one of none. */
	unsigned char large[40] = {1, 0,	RUN_TUPLES, 0,	       0x0f,
				   0, [6] = 64, [16] = 64,  [26] = 64, [37] = 2};
	struct error e = {""};

	CU_ASSERT_EQUAL(columns_check(tuples, sizeof(tuples), 1, RUN_SPARSE, &e), 0);
	CU_ASSERT_EQUAL(columns_check(tuples, 0, 1, 0, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "broken columns"));
	CU_ASSERT_EQUAL(columns_check(tuples, sizeof(tuples), 1, RUN_FOLD, &e), -1);
	CU_ASSERT_EQUAL(columns_check(tuples, sizeof(tuples), 1, RUN_DISCARDED, &e), -1);
	CU_ASSERT_EQUAL(columns_check(newest, sizeof(newest), UINT32_MAX - 2, 0, &e), 0);
	CU_ASSERT_EQUAL(columns_check(newest, sizeof(newest), UINT32_MAX - 1, 0, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "past the last name"));
	CU_ASSERT_EQUAL(columns_check(newest, sizeof(newest), 1, RUN_SPARSE, &e), -1);
	CU_ASSERT(agree(large, sizeof(large)));
	CU_ASSERT_EQUAL(columns_check(large, sizeof(large), 1, 0, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "no smaller than what they stand for"));
}

/* What has come over the wire may count none as lost. */
static void none_lost(void)
{
	static const uint64_t none = 0;
	struct batch b;
	struct buffer *buffer;

	batch_init(&b);
	part_add(&b);
	tuples_like_real_ones(batch_add(&b, RUN_TUPLES, 1, 100, 40, 5), 40);
	memcpy(b.last + 1, &none, sizeof(none));
	for (unsigned i = 0; i < 2; i++) {
		if (i == 0)
			columns_batch_pack(&b);
		else
			columns_batch_open(&b);
		buffer = sent(&b);
		CU_ASSERT_EQUAL(batch_check(buffer->data, buffer->used, NULL, NULL), 0);
		buffer_unref(buffer);
	}
	CU_ASSERT_EQUAL(b.bytes, b.plain);
	batch_fini(&b);
}

/* A small batch that stands for very much is refused at the run that is too much: what is behind it
 * is not looked at. */
static void far_too_much(void)
{
	unsigned char columns[2048] = {0xff, 0xff, RUN_TUPLES};
	const size_t runs = BATCH_PLAIN_MOST / sizeof(struct tuple) / 65535 + 1;
	char place[64];
	struct error e = {""};
	struct buffer *buffer;
	struct batch b;

	batch_init(&b);
	part_add(&b);
	for (size_t i = 0; i <= 10 * runs; i++)
		memcpy(batch_add(&b, RUN_COLUMNS, 1, 1, 1032 / 8, 0), columns, 1032);
	buffer = sent(&b);
	CU_ASSERT_EQUAL(batch_check(buffer->data, buffer->used, NULL, &e), -1);
	buffer_unref(buffer);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "stand for more than a batch may have"));
	snprintf(place, sizeof(place), "the run at byte %zu ",
		 sizeof(struct run) + sizeof(struct part) +
			 (runs - 1) * (sizeof(struct run) + 1032));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, place));
	batch_fini(&b);
}

static CU_TestInfo batch_cases[] = {
	{"much in few bytes", far_too_much},
	{"a count of none that are lost", none_lost},
	{"runs through columns and back, unopened on the way", runs_through_columns},
	{"long runs are cut", long_runs_are_cut},
	{"runs of columns that are refused", runs_that_are_refused},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo columns_cases[] = {
	{"whatever is in records comes out again", all_comes_out_again},
	{"times of which one changes", times_of_which_one_changes},
	{"meets come out again", meets_come_out_again},
	{"few bytes a tuple, none for what does not change", few_bytes_a_tuple},
	{"of damaged ones two readers say the same", damaged_ones},
	{"what is none is refused", what_is_none_is_refused},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "columns", .pTests = columns_cases},
		{.pName = "columns in batches", .pTests = batch_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
