/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests batches: runs in and out, linking without copies, reuse of memory, checking of foreign
 * ones. */
#include "tree/data/batch.h"
#include "tests/tap.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tuple tuple_no(uint64_t n)
{
	return (struct tuple){
		.start = n, .end = n + 1, .bytes = n * n, .peer = (int32_t)n, .op = 1};
}

static void add_tuples(struct batch *b, uint32_t element, uint64_t first, uint32_t count,
		       uint64_t lost)
{
	struct tuple *out = batch_add(b, RUN_TUPLES, element, first, count, lost);

	for (uint32_t i = 0; i < count; i++)
		out[i] = tuple_no(first + i);
}

static void add_part(struct batch *b, uint32_t leaf, uint64_t wave)
{
	struct part *part = batch_add(b, RUN_PART, leaf, wave, 1, 0);

	*part = (struct part){.clock = CLOCK_LINE_NS, .read = 1};
}

/* The next run is this one, aligned, with the tuples that add_tuples() makes. */
static void expect_tuples(const struct batch *b, struct batch_cursor *c, uint32_t element,
			  uint64_t first, uint32_t count, uint64_t lost)
{
	struct run_view view;

	CU_ASSERT_EQUAL_FATAL(batch_next(b, c, &view), 1);
	CU_ASSERT_EQUAL((uintptr_t)view.run % 8, 0);
	CU_ASSERT_EQUAL(view.run->kind, RUN_TUPLES);
	CU_ASSERT_EQUAL(view.run->element, element);
	CU_ASSERT_EQUAL(view.run->first, first);
	CU_ASSERT_EQUAL(view.run->count, count);
	CU_ASSERT_EQUAL(view.lost, lost);
	for (uint32_t i = 0; i < view.run->count; i++) {
		struct tuple wanted = tuple_no(first + i);

		CU_ASSERT_EQUAL(memcmp(&view.tuples[i], &wanted, sizeof(wanted)), 0);
	}
}

static void expect_end(const struct batch *b, struct batch_cursor *c)
{
	struct run_view view;
	size_t bytes = 0;

	CU_ASSERT_EQUAL(batch_next(b, c, &view), 0);
	for (size_t i = 0; i < b->n; i++)
		bytes += b->extents[i].bytes;
	CU_ASSERT_EQUAL(bytes, b->bytes);
}

static void runs_come_out_as_they_went_in(void)
{
	struct batch b;
	struct batch_cursor c = {0};
	struct run_view view;

	batch_init(&b);
	add_part(&b, 5, 9);
	add_tuples(&b, 1, 100, 3, 0);
	add_tuples(&b, 2, 200, 0, 7);
	add_tuples(&b, 3, 300, 2, UINT64_MAX);
	CU_ASSERT_EQUAL(b.n, 1);
	CU_ASSERT_EQUAL(batch_next(&b, &c, &view), 1);
	CU_ASSERT_EQUAL(view.run->kind, RUN_PART);
	CU_ASSERT_EQUAL(view.run->element, 5);
	CU_ASSERT_EQUAL(view.run->first, 9);
	CU_ASSERT_EQUAL(view.part->read, 1);
	expect_tuples(&b, &c, 1, 100, 3, 0);
	expect_tuples(&b, &c, 2, 200, 0, 7);
	expect_tuples(&b, &c, 3, 300, 2, UINT64_MAX);
	expect_end(&b, &c);
	batch_fini(&b);
	batch_fini(NULL);
}

static void add_newest(struct batch *b, uint32_t element, uint32_t count)
{
	struct newest *out = batch_add(b, RUN_NEWEST, element, 0, count, 0);

	for (uint32_t i = 0; i < count; i++)
		out[i] = (struct newest){10 * i, tuple_no(10 * i)};
}

/* Each is a run of its own to who walks over them, and one to who looks at what is packed. */
static void newest_tuples_of_many_elements(void)
{
	struct batch b, kept;
	struct batch_cursor c = {0}, packed = {0}, parts = {0};
	struct run_view view;

	batch_init(&b);
	batch_init(&kept);
	add_part(&b, 5, 9);
	add_newest(&b, 7, 4);
	batch_trim(&b, 3);
	add_newest(&b, 20, 4);
	batch_trim(&b, 0);
	add_tuples(&b, 30, 300, 2, 0);
	add_part(&b, 6, 9);
	CU_ASSERT_EQUAL(b.bytes, 4 * sizeof(struct run) + 2 * sizeof(struct part) +
					 3 * sizeof(struct newest) + 2 * sizeof(struct tuple));
	batch_next(&b, &c, &view);
	while (batch_next(&b, &c, &view) && view.run->kind == RUN_TUPLES)
		batch_keep(&kept, &view);
	CU_ASSERT_EQUAL(view.run->kind, RUN_PART);
	expect_end(&b, &c);
	c = (struct batch_cursor){0};
	for (uint32_t i = 0; i < 3; i++)
		expect_tuples(&kept, &c, 7 + i, 10 * i, 1, 0);
	expect_tuples(&kept, &c, 30, 300, 2, 0);
	expect_end(&kept, &c);
	batch_next_packed(&b, &packed, &view);
	CU_ASSERT_EQUAL(batch_next_packed(&b, &packed, &view), 1);
	CU_ASSERT_EQUAL(view.run->kind, RUN_NEWEST);
	CU_ASSERT_EQUAL(view.run->count, 3);
	CU_ASSERT_EQUAL(view.bytes, sizeof(struct run) + 3 * sizeof(struct newest));
	CU_ASSERT_EQUAL(batch_next_part(&b, &parts, &view), 1);
	CU_ASSERT_EQUAL(view.run->element, 5);
	CU_ASSERT_EQUAL(batch_next_part(&b, &parts, &view), 1);
	CU_ASSERT_EQUAL(view.run->element, 6);
	CU_ASSERT_EQUAL(batch_next_part(&b, &parts, &view), 0);
	batch_fini(&b);
	batch_fini(&kept);
}

static void more_than_a_buffer(void)
{
	struct batch b;
	struct batch_cursor c = {0};

	batch_init(&b);
	for (uint32_t i = 0; i < 40; i++)
		add_tuples(&b, i, i, i % 20 == 7 ? UINT16_MAX : 100, 0);
	CU_ASSERT(b.n > 2);
	for (uint32_t i = 0; i < 40; i++)
		expect_tuples(&b, &c, i, i, i % 20 == 7 ? UINT16_MAX : 100, 0);
	expect_end(&b, &c);
	batch_fini(&b);
}

static void settling_the_last_run(void)
{
	struct batch b;
	struct batch_cursor c = {0};

	batch_init(&b);
	add_tuples(&b, 1, 10, 5, 0);
	batch_trim(&b, 2);
	add_tuples(&b, 2, 20, 5, 3);
	batch_trim(&b, 4);
	/* Overwritten meanwhile: a loss, and another beginning, turn up after the room was made. */
	add_tuples(&b, 3, 33, 4, 0);
	batch_settle(&b, 33, 4, 3);
	add_tuples(&b, 4, 40, 4, 1);
	batch_settle(&b, 40, 1, 0);
	add_tuples(&b, 5, 50, 4, 0);
	batch_settle(&b, 50, 0, 9);
	add_tuples(&b, 6, 60, 4, 8);
	batch_settle(&b, 60, 0, 0);
	add_tuples(&b, 7, 70, 1, 0);
	expect_tuples(&b, &c, 1, 10, 2, 0);
	expect_tuples(&b, &c, 2, 20, 4, 3);
	expect_tuples(&b, &c, 3, 33, 4, 3);
	expect_tuples(&b, &c, 4, 40, 1, 0);
	expect_tuples(&b, &c, 5, 50, 0, 9);
	expect_tuples(&b, &c, 7, 70, 1, 0);
	expect_end(&b, &c);
	batch_clear(&b);
	add_tuples(&b, 8, 80, 1, 0);
	batch_trim(&b, 0);
	CU_ASSERT_EQUAL(b.n, 0);
	CU_ASSERT_EQUAL(b.bytes, 0);
	batch_fini(&b);
}

/* In a buffer that is full to the last byte there must still be room for a lost count. */
static void settling_at_the_end_of_a_buffer(void)
{
	struct batch b;

	batch_init(&b);
	for (uint32_t i = 0; i < 5000; i++) {
		add_tuples(&b, i, i, 1 + i % 3, 0);
		batch_settle(&b, i, 1 + i % 3, 1 + i);
		CU_ASSERT(b.own->used <= b.own->size);
	}
	CU_ASSERT(b.n > 1);
	batch_fini(&b);
}

static void linking_copies_nothing(void)
{
	struct batch a, b;
	struct batch_cursor c = {0};
	struct run_view view;
	unsigned char *where;

	batch_init(&a);
	batch_init(&b);
	add_tuples(&a, 1, 10, 1, 0);
	add_tuples(&b, 2, 20, 1, 0);
	where = b.own->data + b.extents[0].at;
	batch_link(&a, &b);
	CU_ASSERT_EQUAL(b.n, 0);
	CU_ASSERT_EQUAL(b.bytes, 0);
	/* Both go on: what is added now comes behind what was linked. */
	add_tuples(&a, 3, 30, 1, 0);
	add_tuples(&b, 4, 40, 1, 0);
	batch_link(&a, &b);
	batch_fini(&b);
	expect_tuples(&a, &c, 1, 10, 1, 0);
	CU_ASSERT_EQUAL(batch_next(&a, &c, &view), 1);
	CU_ASSERT_PTR_EQUAL((unsigned char *)view.run, where);
	expect_tuples(&a, &c, 3, 30, 1, 0);
	expect_tuples(&a, &c, 4, 40, 1, 0);
	expect_end(&a, &c);
	batch_link(&b, &a);
	CU_ASSERT_EQUAL(a.n, 0);
	CU_ASSERT_EQUAL(b.bytes, 4 * (sizeof(struct run) + sizeof(struct tuple)));
	batch_fini(&a);
	batch_fini(&b);
}

static void a_buffer_lives_as_long_as_its_batches(void)
{
	struct buffer *buffer = buffer_new(4096);
	struct batch made, got, kept;
	struct batch_cursor c = {0};
	struct run_view view;

	batch_init(&made);
	batch_init(&got);
	batch_init(&kept);
	add_tuples(&made, 1, 10, 1, 0);
	add_tuples(&made, 2, 20, 2, 1);
	add_tuples(&made, 3, 30, 1, 0);
	memcpy(buffer->data, made.own->data, made.bytes);
	batch_append(&got, buffer, 0, made.bytes);
	CU_ASSERT_EQUAL(buffer->refs, 2);
	buffer_unref(buffer);
	while (batch_next(&got, &c, &view))
		if (view.run->element != 1)
			batch_keep(&kept, &view);
	CU_ASSERT_EQUAL(kept.n, 1);
	CU_ASSERT_EQUAL(buffer->refs, 2);
	batch_fini(&got);
	CU_ASSERT_EQUAL(buffer->refs, 1);
	c = (struct batch_cursor){0};
	expect_tuples(&kept, &c, 2, 20, 2, 1);
	expect_tuples(&kept, &c, 3, 30, 1, 0);
	expect_end(&kept, &c);
	batch_fini(&kept);
	batch_fini(&made);
	buffer_unref(NULL);
}

static void a_wave_allocates_nothing(void)
{
	struct batch a, b;
	size_t before = 0;

	batch_init(&a);
	batch_init(&b);
	for (int wave = 0; wave < 100; wave++) {
		for (uint32_t i = 0; i < 250; i++)
			add_tuples(&a, i, i, 1, 0);
		batch_link(&b, &a);
		batch_clear(&a);
		batch_clear(&b);
		if (wave == 1)
			before = mallinfo2().uordblks;
	}
	CU_ASSERT_EQUAL(mallinfo2().uordblks, before);
	batch_fini(&a);
	batch_fini(&b);
}

/* ---- checking ---- */

static const char *check(const void *data, size_t bytes)
{
	static struct error e;

	e.text[0] = '\0';
	errno = 0;
	if (batch_check(data, bytes, NULL, &e) == 0)
		return "";
	CU_ASSERT_EQUAL(errno, EPROTO);
	CU_ASSERT_EQUAL(batch_check(data, bytes, NULL, NULL), -1);
	return e.text;
}

#define EXPECT_FAULT(data, bytes, what) CU_ASSERT_PTR_NOT_NULL(strstr(check(data, bytes), what))

static void sound_batches_pass(void)
{
	struct batch b;
	struct total *total;
	size_t whole = 0;

	batch_init(&b);
	CU_ASSERT_STRING_EQUAL(check("", 0), "");
	add_part(&b, 5, 9);
	add_tuples(&b, 1, 100, 3, 2);
	total = batch_add(&b, RUN_TOTALS, 1, 0, 2, 0);
	memset(total, 0, 2 * sizeof(*total));
	total_add(total, 5);
	CU_ASSERT_STRING_EQUAL(check(b.own->data, b.bytes), "");
	/* Cut anywhere but between runs it does not. */
	for (size_t bytes = 0; bytes < b.bytes; bytes++)
		whole += !*check(b.own->data, bytes);
	CU_ASSERT_EQUAL(whole, 3);
	batch_fini(&b);
}

static void broken_headers_are_found(void)
{
	struct batch b;
	struct run *part, *run;
	unsigned char *data;
	char where[80];

	batch_init(&b);
	add_part(&b, 5, 9);
	part = b.last;
	add_tuples(&b, 1, 100, 3, 0);
	run = b.last;
	data = b.own->data;
	EXPECT_FAULT(data + 4, 8, "multiple of 8");
	EXPECT_FAULT(run, b.bytes - ((unsigned char *)run - data), "before any part");
	run->kind = RUN_KINDS;
	snprintf(where, sizeof(where), "the run at byte %td is of a kind that does not exist",
		 (unsigned char *)run - data);
	EXPECT_FAULT(data, b.bytes, where);
	run->kind = RUN_TUPLES;
	run->flags = 0x80;
	EXPECT_FAULT(data, b.bytes, "flags that do not exist");
	run->flags = RUN_LOST;
	EXPECT_FAULT(data, b.bytes, "longer than what is left");
	run->flags = RUN_FOLD;
	EXPECT_FAULT(data, b.bytes, "marked as a part");
	run->flags = 0;
	run->count = 4;
	EXPECT_FAULT(data, b.bytes, "longer than what is left");
	run->count = UINT16_MAX;
	EXPECT_FAULT(data, b.bytes, "longer than what is left");
	run->count = 3;
	part->count = 2;
	EXPECT_FAULT(data, b.bytes, "not have exactly one");
	part->count = 1;
	part->flags = RUN_FOLD | RUN_MANY;
	EXPECT_FAULT(data, b.bytes, "not have exactly one");
	part->flags = RUN_FOLD;
	EXPECT_FAULT(data, b.bytes, "is a mark and counts tuples as read");
	((struct part *)(void *)(part + 1))->read = 0;
	CU_ASSERT_STRING_EQUAL(check(data, b.bytes), "");
	batch_fini(&b);
}

static void broken_newest_tuples_are_found(void)
{
	struct batch b;
	struct run *run;
	unsigned char *data;

	batch_init(&b);
	add_part(&b, 5, 9);
	add_newest(&b, 7, 3);
	run = b.last;
	data = b.own->data;
	CU_ASSERT_STRING_EQUAL(check(data, b.bytes), "");
	run->flags = RUN_LOST;
	EXPECT_FAULT(data, b.bytes, "holds newest tuples");
	run->flags = 0;
	run->count = 0;
	EXPECT_FAULT(data, b.bytes, "holds newest tuples");
	run->count = 4;
	EXPECT_FAULT(data, b.bytes, "longer than what is left");
	run->count = 3;
	run->element = UINT32_MAX - 1;
	EXPECT_FAULT(data, b.bytes, "past the last name");
	batch_fini(&b);
}

static void numbers_to_stumble_over_are_found(void)
{
	static const struct clock_line lines[] = {
		{.ns_per_tick = -1},
		{.ns_per_tick = __builtin_nan("")},
		{.ns_per_tick = __builtin_inf()},
		{.ns_per_tick = 1, .error_ns = __builtin_nan("")},
		{.ns_per_tick = 1, .error_ns = -1},
		{.ns_per_tick = 1, .base_ns = INT64_MIN},
		{.ns_per_tick = 1, .base_ns = INT64_MAX},
	};
	static const struct total totals[] = {
		{.mean = __builtin_nan("")},   {.mean = 1e20},
		{.m2 = __builtin_inf()},       {.m2 = -1},
		{.value = TOTAL_VALUES},       {.min = 1},
		{.fold = FOLD_COUNT_OF_KINDS},
	};
	struct batch b;
	struct part *part;
	struct total *total;

	batch_init(&b);
	add_part(&b, 5, 9);
	part = (struct part *)(void *)(b.last + 1);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		part->clock = lines[i];
		EXPECT_FAULT(b.own->data, b.bytes, "clock that is not valid");
	}
	part->clock = CLOCK_LINE_NS;
	total = batch_add(&b, RUN_TOTALS, 1, 0, 1, 0);
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		*total = totals[i];
		EXPECT_FAULT(b.own->data, b.bytes, "total that is not valid");
	}
	batch_fini(&b);
}

static CU_TestInfo batch_cases[] = {
	{"runs come out as they went in", runs_come_out_as_they_went_in},
	{"newest tuples of many elements", newest_tuples_of_many_elements},
	{"more than a buffer holds", more_than_a_buffer},
	{"the last run turns out to be another", settling_the_last_run},
	{"... at the end of a buffer", settling_at_the_end_of_a_buffer},
	{"linking copies nothing", linking_copies_nothing},
	{"a buffer lives as long as its batches", a_buffer_lives_as_long_as_its_batches},
	{"a wave like the last allocates nothing", a_wave_allocates_nothing},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo check_cases[] = {
	{"sound batches pass, cut ones do not", sound_batches_pass},
	{"broken headers are found", broken_headers_are_found},
	{"broken newest tuples are found", broken_newest_tuples_are_found},
	{"numbers to stumble over are found", numbers_to_stumble_over_are_found},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "batch", .pTests = batch_cases},
		{.pName = "batch_check", .pTests = check_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
