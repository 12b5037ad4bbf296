/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the deframer: frames in a stream of bytes, however they come. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/tap.h"
#include "tree/data/batch.h"
#include "tree/data/columns.h"
#include "tree/wire/deframer.h"
#include "tree/stage/stage.h"
#include "tree/data/tuple.h"

/** A frame as bytes: an answer of wave @wave with @body. The caller frees. */
static unsigned char *body_bytes(uint64_t wave, const struct batch *body, size_t *bytes,
				 size_t *body_at)
{
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	const Evspace__Frame frame = WIRE_FRAME(ANSWER, answer, &answer);
	struct wire_front front;
	unsigned char *data, *to;

	answer.wave = wave;
	front.header_bytes = (uint32_t)evspace__frame__get_packed_size(&frame);
	front.body_bytes = (uint32_t)body->bytes;
	*bytes = wire_frame_bytes(&front);
	data = memory_new(*bytes, 1);
	to = wire_frame_put(&front, &frame, data);
	*body_at = (size_t)(to - data);
	for (size_t i = 0; i < body->n; i++) {
		const struct extent *x = &body->extents[i];

		memcpy(to, x->buffer->data + x->at, x->bytes);
		to += x->bytes;
	}
	return data;
}

/** The same with @tuples tuples. */
static unsigned char *answer_bytes(uint64_t wave, uint32_t tuples, size_t *bytes, size_t *body_at)
{
	struct batch batch;
	unsigned char *data;

	batch_init(&batch);
	if (tuples) {
		memset(batch_add(&batch, RUN_PART, 0, wave, 1, 0), 0, sizeof(struct part));
		memset(batch_add(&batch, RUN_TUPLES, 5, wave, tuples, 0), (int)(wave & 0x7f),
		       tuples * sizeof(struct tuple));
	}
	data = body_bytes(wave, &batch, bytes, body_at);
	batch_fini(&batch);
	return data;
}

/** Put @bytes of @data into @d, at most @chunk at a time. Returns the number of frames, -1 if
 * broken. */
static int feed(struct deframer *d, const unsigned char *data, size_t bytes, size_t chunk,
		uint64_t *next_wave)
{
	struct frame frame;
	struct error e;
	int frames = 0, result;

	while (bytes) {
		size_t room, n;
		unsigned char *to = deframer_room(d, &room);

		n = bytes < chunk ? bytes : chunk;
		n = n < room ? n : room;
		CU_ASSERT_FATAL(n > 0);
		memcpy(to, data, n);
		deframer_filled(d, n);
		data += n;
		bytes -= n;
		while ((result = deframer_next(d, &frame, &e)) > 0) {
			CU_ASSERT_EQUAL(frame.header->answer->wave, (*next_wave)++);
			CU_ASSERT_EQUAL(frame.at % 8, 0);
			frames++;
		}
		if (result < 0)
			return -1;
	}
	return frames;
}

static void frames_are_found_however_they_come(void)
{
	static const size_t chunks[] = {1, 2, 3, 7, 8, 9, 100, 1447, 16384, SIZE_MAX};
	static const uint32_t tuples[] = {0, 1, 3, 100, 0, 40000, 1600, 1, 0, 65535};
	struct arena arena;

	arena_init(&arena, 1 << 20);
	for (size_t c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++) {
		struct deframer d;
		uint64_t next_wave = 0;
		int frames = 0;

		deframer_init(&d, &arena, &wire_child_limits);
		for (uint64_t wave = 0; wave < sizeof(tuples) / sizeof(tuples[0]); wave++) {
			size_t bytes, body_at;
			unsigned char *data = answer_bytes(wave, tuples[wave], &bytes, &body_at);

			frames += feed(&d, data, bytes, chunks[c], &next_wave);
			free(data);
		}
		CU_ASSERT_EQUAL(frames, (int)(sizeof(tuples) / sizeof(tuples[0])));
		CU_ASSERT_FALSE(deframer_partial(&d));
		deframer_rest(&d);
		CU_ASSERT_PTR_NULL(d.buffer);
		deframer_fini(&d);
	}
	arena_fini(&arena);
}

static void bodies_that_are_held_stay(void)
{
	enum { HELD = 50 };
	struct buffer *held[HELD];
	size_t at[HELD], room, bytes, body_at;
	struct arena arena;
	struct deframer d;
	struct frame frame;
	struct error e;

	arena_init(&arena, 1 << 20);
	deframer_init(&d, &arena, &wire_child_limits);
	for (unsigned i = 0; i < HELD; i++) {
		unsigned char *data = answer_bytes(i, 200, &bytes, &body_at);

		/* Two pieces, so that now and then a beginning has to move. */
		for (size_t from = 0, n; from < bytes; from += n) {
			unsigned char *to = deframer_room(&d, &room);

			n = from ? bytes - from : bytes / 2;
			n = n < room ? n : room;
			memcpy(to, data + from, n);
			deframer_filled(&d, n);
		}
		free(data);
		CU_ASSERT_EQUAL_FATAL(deframer_next(&d, &frame, &e), 1);
		held[i] = buffer_ref(frame.buffer);
		at[i] = frame.at;
	}
	deframer_fini(&d);
	for (unsigned i = 0; i < HELD; i++) {
		size_t last = at[i] + sizeof(struct run) + sizeof(struct part) +
			      sizeof(struct run) + 200 * sizeof(struct tuple) - 1;

		CU_ASSERT_EQUAL(held[i]->data[last], i);
		buffer_unref(held[i]);
	}
	arena_fini(&arena);
}

/** Reverse the bytes of the count in the header of a run. */
static void count_reversed(unsigned char *run)
{
	unsigned char *count = run + offsetof(struct run, count), first = count[0];

	count[0] = count[1];
	count[1] = first;
}

static void the_other_byte_order_is_swapped(void)
{
	size_t bytes, body_at;
	unsigned char *data = answer_bytes(0, 1, &bytes, &body_at);
	unsigned char *part = data + body_at,
		      *run = part + sizeof(struct run) + sizeof(struct part);
	size_t tuple_at = (size_t)(run + sizeof(struct run) - data);
	struct tuple *tuple = (struct tuple *)(data + tuple_at);
	struct arena arena;
	struct deframer d;
	uint64_t next_wave = 0;
	struct error e;

	*tuple = (struct tuple){.start = 0x0102030405060708, .peer = -2, .comm = 7, .flags = 1};
	/* Swapping reads the counts when it has swapped them, so they go there and back. */
	count_reversed(part);
	count_reversed(run);
	CU_ASSERT_EQUAL(convert_swap(part, bytes - body_at, &e), 0);
	count_reversed(part);
	count_reversed(run);

	arena_init(&arena, 1 << 20);
	deframer_init(&d, &arena, &wire_child_limits);
	CU_ASSERT_EQUAL(feed(&d, data, bytes, bytes, &next_wave), -1);
	deframer_fini(&d);
	next_wave = 0;
	d.swap = true;
	CU_ASSERT_EQUAL(feed(&d, data, bytes, bytes, &next_wave), 1);
	tuple = (struct tuple *)(d.buffer->data + tuple_at);
	CU_ASSERT_EQUAL(tuple->start, 0x0102030405060708);
	CU_ASSERT_EQUAL(tuple->peer, -2);
	CU_ASSERT_EQUAL(tuple->comm, 7);
	CU_ASSERT_EQUAL(tuple->flags, 1);
	deframer_fini(&d);
	arena_fini(&arena);
	free(data);
}

/** Feed one damaged frame to a new deframer. */
static int damaged(const unsigned char *data, size_t bytes, size_t limit)
{
	struct wire_limits limits = wire_child_limits;
	struct arena arena;
	struct deframer d;
	uint64_t next_wave = 1;
	int result;

	limits.frame = limit;
	arena_init(&arena, 1 << 20);
	deframer_init(&d, &arena, &limits);
	result = feed(&d, data, bytes, SIZE_MAX, &next_wave);
	deframer_fini(&d);
	arena_fini(&arena);
	return result;
}

/** A few KiB stand for 2.5 MiB in each run: all of them together for no more than a plain body. */
static void columns_stand_for_no_more_than_a_body(void)
{
	static unsigned char zeros[4096];
	struct tuple *tuples = memory_new(UINT16_MAX, sizeof(*tuples));
	size_t words = columns_put(RUN_TUPLES, tuples, UINT16_MAX, zeros) / 8;

	free(tuples);
	for (size_t runs = 25; runs <= 26; runs++) {
		size_t bytes, body_at;
		unsigned char *data;
		struct deframer d;
		struct arena arena;
		struct batch body;
		uint64_t wave = 1;

		batch_init(&body);
		memset(batch_add(&body, RUN_PART, 0, 1, 1, 0), 0, sizeof(struct part));
		for (size_t i = 0; i < runs; i++)
			memcpy(batch_add(&body, RUN_COLUMNS, 5, 1, (uint32_t)words, 0), zeros,
			       words * 8);
		data = body_bytes(1, &body, &bytes, &body_at);
		arena_init(&arena, 1 << 20);
		deframer_init(&d, &arena, &wire_child_limits);
		CU_ASSERT_EQUAL(feed(&d, data, bytes, bytes, &wave), runs == 25 ? 1 : -1);
		deframer_fini(&d);
		arena_fini(&arena);
		batch_fini(&body);
		free(data);
	}
}

static void what_is_no_frame_is_refused(void)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: w0\r\n\r\n";
	size_t bytes, body_at;
	unsigned char *data = answer_bytes(1, 3, &bytes, &body_at);

	CU_ASSERT_EQUAL(damaged((const unsigned char *)http, sizeof(http), WIRE_FRAME_MAX), -1);
	CU_ASSERT_EQUAL(damaged(data, bytes, bytes), 1);
	CU_ASSERT_EQUAL(damaged(data, bytes, bytes - 1), -1);
	data[body_at + offsetof(struct run, kind)] = 99;
	CU_ASSERT_EQUAL(damaged(data, bytes, bytes), -1);
	data[body_at + offsetof(struct run, kind)] = RUN_PART;
	/* The frame becomes a Close: a kind that has no body. */
	data[WIRE_FRONT_BYTES] = 6 << 3 | 2;
	CU_ASSERT_EQUAL(damaged(data, bytes, bytes), -1);
	free(data);
}

/** Parse a header of empty messages of these kinds, one behind the other. */
static bool parses(const unsigned char *kinds, size_t n)
{
	unsigned char data[16] = {0};
	Evspace__Frame *frame;
	struct error e;

	for (size_t i = 0; i < n; i++)
		data[2 * i] = (unsigned char)(kinds[i] << 3 | 2);
	frame = wire_header_parse(data, 2 * n, &e);
	wire_header_free(frame);
	return frame != NULL;
}

/** protobuf goes by the last kind of a header, limits go by the first. */
static void a_frame_is_of_one_kind(void)
{
	static const unsigned char long_tag[] = {2 << 3 | 2 | 0x80, 0x80, 0, 0};
	struct error e;

	for (unsigned char first = 1; first <= 15; first++) {
		CU_ASSERT_TRUE(parses(&first, 1));
		for (unsigned char last = 1; last <= 15; last++)
			CU_ASSERT_FALSE(parses((const unsigned char[]){first, last}, 2));
	}
	/* Nor by other bytes than those that limits are looked up by. */
	CU_ASSERT_PTR_NULL(wire_header_parse(long_tag, sizeof(long_tag), &e));
}

/** What the deframer says of a frame as soon as its kind is known. */
static int begun(const struct wire_limits *limits, unsigned kind, uint32_t header, uint32_t body)
{
	unsigned char data[WIRE_FRONT_BYTES + WIRE_KIND_BYTES] = {0};
	struct arena arena;
	struct deframer d;
	uint64_t next_wave = 1;
	int result;

	memcpy(data, &header, sizeof(header));
	memcpy(data + sizeof(header), &body, sizeof(body));
	data[WIRE_FRONT_BYTES] = (unsigned char)((kind << 3 | 2) | (kind > 15 ? 0x80 : 0));
	data[WIRE_FRONT_BYTES + 1] = (unsigned char)(kind >> 4);
	arena_init(&arena, 1 << 20);
	deframer_init(&d, &arena, limits);
	result = feed(&d, data, sizeof(data), 1, &next_wave);
	if (result == 0)
		CU_ASSERT_EQUAL(deframer_unfinished(&d),
				WIRE_FRONT_BYTES + wire_pad(header) + body);
	deframer_fini(&d);
	arena_fini(&arena);
	return result;
}

static void headers_are_as_large_as_their_kind_needs(void)
{
	const uint32_t most = WIRE_HEADER_MAX;

	/* Close, ping, error, and what is not known. */
	for (unsigned kind = 0; kind < 20; kind++) {
		bool large = kind == 2 || (kind >= 4 && kind <= 5) || kind == 3 ||
			     (kind >= 8 && kind <= 11) || kind >= 14;

		CU_ASSERT_EQUAL(begun(&wire_hello_limits, kind, 5000, 0), -1);
		CU_ASSERT_EQUAL(begun(&wire_child_limits, kind, 4096, 0), 0);
		if (!large || kind > 16)
			CU_ASSERT_EQUAL(begun(&wire_child_limits, kind, 4097, 0), -1);
		CU_ASSERT_EQUAL(begun(&wire_consumer_limits, kind, 4 << 20, 0), -1);
		if (kind != 5)
			CU_ASSERT_EQUAL(begun(&wire_child_limits, kind, 16, 8), -1);
	}
	CU_ASSERT_EQUAL(begun(&wire_consumer_limits, 2, 4 << 16, 0), 0);
	CU_ASSERT_EQUAL(begun(&wire_consumer_limits, 2, 5 << 16, 0), -1);
	CU_ASSERT_EQUAL(begun(&wire_parent_limits, 2, most, 0), 0);
	CU_ASSERT_EQUAL(begun(&wire_parent_limits, 4, most, 0), -1);
	CU_ASSERT_EQUAL(begun(&wire_child_limits, 16, most, 0), 0);
	CU_ASSERT_EQUAL(begun(&wire_child_limits, 5, most, 8 << 20), 0);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"frames are found however the bytes come", frames_are_found_however_they_come},
		{"bodies that are held stay as they were", bodies_that_are_held_stay},
		{"the other byte order is swapped", the_other_byte_order_is_swapped},
		{"columns stand for no more than a body", columns_stand_for_no_more_than_a_body},
		{"what is no frame is refused", what_is_no_frame_is_refused},
		{"a frame is of one kind", a_frame_is_of_one_kind},
		{"headers are at most as large as their kind needs",
		 headers_are_as_large_as_their_kind_needs},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "deframer", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
