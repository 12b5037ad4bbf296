/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests flat headers against protobuf-c: what is packed here is what it packs, what is unpacked
 * here is what it unpacks, and the rest is left to it. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tree/data/arena.h"
#include "tree/wire/flat.h"

#define KINDS 16u
#define ROOM  4096u

static uint64_t seed = 1;

/* A number with few or many bits, or none. */
static uint64_t number(void)
{
	return random_below(&seed, UINT64_MAX) >> random_below(&seed, 64) * random_below(&seed, 2);
}

/* Numbers into some fields of a message. */
static void fields_make(ProtobufCMessage *m)
{
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &m->descriptor->fields[i];
		const uint64_t wide = number();
		const uint32_t narrow = (uint32_t)wide, yes = 1;
		char *at = (char *)m + field->offset;

		if (field->label != PROTOBUF_C_LABEL_NONE || random_below(&seed, 4) == 0)
			continue;
		if (field->type == PROTOBUF_C_TYPE_BOOL)
			memcpy(at, &yes, sizeof(yes));
		else if (field->type == PROTOBUF_C_TYPE_UINT64 ||
			 field->type == PROTOBUF_C_TYPE_FIXED64 ||
			 field->type == PROTOBUF_C_TYPE_SINT64)
			memcpy(at, &wide, sizeof(wide));
		else if (field->type == PROTOBUF_C_TYPE_UINT32 ||
			 field->type == PROTOBUF_C_TYPE_SINT32 ||
			 field->type == PROTOBUF_C_TYPE_FIXED32)
			memcpy(at, &narrow, sizeof(narrow));
	}
}

/* A frame of the kind with an empty message, as if it had been unpacked. */
static Evspace__Frame *frame_make(unsigned kind)
{
	const ProtobufCFieldDescriptor *field = &evspace__frame__descriptor.fields[kind - 1];
	const ProtobufCMessageDescriptor *type = field->descriptor;
	ProtobufCMessage *m = memory_new(1, type->sizeof_message);
	Evspace__Frame *frame = memory_new(1, sizeof(*frame));

	protobuf_c_message_init(type, m);
	evspace__frame__init(frame);
	frame->kind_case = (Evspace__Frame__KindCase)kind;
	memcpy((char *)frame + field->offset, &m, sizeof(m));
	return frame;
}

/* Both pack to the same bytes. */
static void expect_alike(const Evspace__Frame *a, const Evspace__Frame *b)
{
	unsigned char of_a[ROOM], of_b[ROOM];
	size_t n = evspace__frame__get_packed_size(a);

	CU_ASSERT_EQUAL_FATAL(evspace__frame__get_packed_size(b), n);
	CU_ASSERT_FATAL(n <= ROOM);
	evspace__frame__pack(a, of_a);
	evspace__frame__pack(b, of_b);
	CU_ASSERT_EQUAL(memcmp(of_a, of_b, n), 0);
}

/* Unpack the bytes, exactly so many of which may be read. Returns whether they are flat. */
static bool get_both(ProtobufCAllocator *allocator, const unsigned char *data, size_t bytes)
{
	unsigned char *exact = memory_new(bytes + !bytes, 1);
	Evspace__Frame *flat, *known;

	memcpy(exact, data, bytes);
	flat = flat_get(allocator, exact, bytes);
	known = evspace__frame__unpack(NULL, bytes, exact);
	if (flat) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(known);
		CU_ASSERT_EQUAL_FATAL(flat->kind_case, known->kind_case);
		expect_alike(flat, known);
		evspace__frame__free_unpacked(flat, allocator);
	}
	if (known)
		evspace__frame__free_unpacked(known, NULL);
	free(exact);
	return flat != NULL;
}

static void packs_as_protobuf_does(void)
{
	unsigned flat[KINDS + 1] = {0};

	for (unsigned round = 0; round < 20000; round++) {
		const unsigned kind = 1 + round % KINDS;
		unsigned char *to = memory_new(FLAT_BYTES, 1), known[ROOM];
		Evspace__Frame *frame = frame_make(kind);
		size_t bytes;

		fields_make((ProtobufCMessage *)frame->ask);
		bytes = flat_put(frame, to);
		CU_ASSERT_FATAL(evspace__frame__get_packed_size(frame) <= ROOM);
		if (bytes > 0) {
			flat[kind]++;
			CU_ASSERT_EQUAL_FATAL(evspace__frame__pack(frame, known), bytes);
			CU_ASSERT_EQUAL(memcmp(to, known, bytes), 0);
			CU_ASSERT_TRUE(get_both(NULL, to, bytes));
		}
		evspace__frame__free_unpacked(frame, NULL);
		free(to);
	}
	/* these are what it is for */
	CU_ASSERT_EQUAL(flat[EVSPACE__FRAME__KIND_ASK], 20000 / KINDS);
	CU_ASSERT_EQUAL(flat[EVSPACE__FRAME__KIND_ANSWER], 20000 / KINDS);
}

static void what_is_not_flat_is_left(void)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	Evspace__Error error = EVSPACE__ERROR__INIT;
	Evspace__Frame frame = {.base = PROTOBUF_C_MESSAGE_INIT(&evspace__frame__descriptor)};
	unsigned char to[FLAT_BYTES], known[ROOM] = {0};
	uint32_t only[] = {7};

	CU_ASSERT_EQUAL(flat_put(&frame, to), 0);
	frame.kind_case = EVSPACE__FRAME__KIND_ASK;
	frame.ask = &ask;
	CU_ASSERT_EQUAL(flat_put(&frame, to), 2);
	ask.n_only = 1;
	ask.only = only;
	CU_ASSERT_EQUAL(flat_put(&frame, to), 0);
	CU_ASSERT_FALSE(get_both(NULL, known, evspace__frame__pack(&frame, known)));
	frame.kind_case = EVSPACE__FRAME__KIND_ERROR;
	frame.error = &error;
	CU_ASSERT_EQUAL(flat_put(&frame, to), 0);
	error.text = (char[]){"why"};
	CU_ASSERT_FALSE(get_both(NULL, known, evspace__frame__pack(&frame, known)));
}

static void damaged_ones(void)
{
	struct arena arena;
	unsigned flat = 0, left = 0;

	arena_init(&arena, 1 << 20);
	for (unsigned round = 0; round < 50000; round++) {
		Evspace__Frame *frame = frame_make(round % 2 ? EVSPACE__FRAME__KIND_ASK
							     : EVSPACE__FRAME__KIND_ANSWER);
		unsigned char data[ROOM] = {0};
		size_t bytes;

		fields_make((ProtobufCMessage *)frame->ask);
		bytes = evspace__frame__pack(frame, data);
		evspace__frame__free_unpacked(frame, NULL);
		for (uint64_t n = 1 + random_below(&seed, 3); n > 0; n--)
			data[random_below(&seed, bytes)] = (unsigned char)random_below(&seed, 256);
		if (round % 5 == 0)
			bytes = random_below(&seed, bytes + 1);
		/* what is cut off is not missed */
		if (bytes >= 2 && bytes < 130 && round % 3 == 0)
			data[1] = (unsigned char)(bytes - 2);
		arena_reset(&arena);
		if (get_both(&arena.allocator, data, bytes))
			flat++;
		else
			left++;
	}
	arena_fini(&arena);
	CU_ASSERT(flat > 1000);
	CU_ASSERT(left > 1000);
}

static CU_TestInfo cases[] = {
	{"packed as protobuf-c does, and unpacked again", packs_as_protobuf_does},
	{"what has more than numbers is left to it", what_is_not_flat_is_left},
	{"damaged ones are what it takes them for, or left to it", damaged_ones},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "flat headers", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
