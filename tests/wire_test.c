/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests frames as bytes: limits, headers, and plan parts.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/tap.h"
#include "tree/data/arena.h"
#include "tree/data/names.h"
#include "tree/wire/wire.h"
#include "tree/wire/wire-place.h"

/* --- fronts and headers ------------------------------------------------------------------- */

static int front_ok(uint32_t header, uint32_t body, size_t limit)
{
	struct wire_front front = {header, body};
	struct error e = {""};
	int result = wire_front_check(&front, limit, &e);

	CU_ASSERT(result == 0 || (errno == EPROTO && e.text[0]));
	return result == 0;
}

static void fronts_within_limits(void)
{
	CU_ASSERT_TRUE(front_ok(1, 0, 16));
	CU_ASSERT_FALSE(front_ok(1, 0, 15));
	CU_ASSERT_FALSE(front_ok(0, 0, WIRE_FRAME_MAX));
	CU_ASSERT_TRUE(front_ok(WIRE_HEADER_MAX, WIRE_BODY_MAX, WIRE_FRAME_MAX));
	CU_ASSERT_FALSE(front_ok(WIRE_HEADER_MAX + 1, 0, SIZE_MAX));
	CU_ASSERT_FALSE(front_ok(8, WIRE_BODY_MAX + 8, SIZE_MAX));
	CU_ASSERT_FALSE(front_ok(UINT32_MAX, UINT32_MAX, SIZE_MAX));
	CU_ASSERT_FALSE(front_ok(8, 12, WIRE_FRAME_MAX));
	CU_ASSERT_FALSE(front_ok(WIRE_HELLO_MAX, 0, WIRE_HELLO_MAX));
}

static int header_ok(const unsigned char *data, size_t bytes)
{
	struct error e = {""};
	Evspace__Frame *frame = wire_header_parse(data, bytes, &e);
	int ok = frame != NULL;

	CU_ASSERT(ok || (errno == EPROTO && e.text[0]));
	wire_header_free(frame);
	return ok;
}

static void headers_of_a_known_kind(void)
{
	static const unsigned char close_7[] = {6 << 3 | 2, 5, 1 << 3 | 5, 7, 0, 0, 0};
	static const unsigned char unknown[] = {31 << 3 | 0, 1};
	static const unsigned char group[] = {6 << 3 | 3, 0};
	static const unsigned char beyond[] = {6 << 3 | 2, 100, 0};
	static const unsigned char endless[] = {6 << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	CU_ASSERT_TRUE(header_ok(close_7, sizeof(close_7)));
	for (size_t n = 0; n < sizeof(close_7); n++)
		CU_ASSERT_FALSE(header_ok(close_7, n));
	CU_ASSERT_FALSE(header_ok(unknown, sizeof(unknown)));
	CU_ASSERT_FALSE(header_ok(group, sizeof(group)));
	CU_ASSERT_FALSE(header_ok(beyond, sizeof(beyond)));
	CU_ASSERT_FALSE(header_ok(endless, sizeof(endless)));
}

/** Bytes that are left of a header when it is read and said again. */
static size_t said_again(const unsigned char *data, size_t bytes, ProtobufCAllocator *allocator)
{
	struct error e = {""};
	Evspace__Frame *frame = wire_header_parse_in(allocator, data, bytes, &e);
	size_t left;

	CU_ASSERT_PTR_NOT_NULL_FATAL(frame);
	left = evspace__frame__get_packed_size(frame);
	evspace__frame__free_unpacked(frame, allocator);
	return left;
}

/* Fields 31 of an ask, and of a place and a stage of an open, would go on to all children. */
static void unknown_is_dropped(void)
{
	static const unsigned char ask[] = {4 << 3 | 2, 2 + 6, 2 << 3 | 0, 3,	0xfa,
					    1,		3,     'b',	   'a', 'd'};
	static const unsigned char nested[] = {2 << 3 | 2, 2 + 6 + 5, 8 << 3 | 2, 6 + 5, 0xfa,
					       1,	   3,	      'b',	  'a',	 'd',
					       6 << 3 | 2, 3,	      0xf8,	  1,	 9};
	struct arena arena;

	CU_ASSERT_EQUAL(said_again(ask, sizeof(ask), NULL), 4);
	CU_ASSERT_EQUAL(said_again(nested, sizeof(nested), NULL), 6);
	arena_init(&arena, 1 << 20);
	CU_ASSERT_EQUAL(said_again(nested, sizeof(nested), &arena.allocator), 6);
	arena_fini(&arena);
}

/* Fields that lead from a frame to a message, and round from there to one of the same type. */
struct way {
	const ProtobufCFieldDescriptor *fields[8];
	unsigned n, round; /* fields, and where the round begins */
};

/** Put the length-delimited field @number before the bytes from @at to @end. Returns where it
 * begins. */
static unsigned char *field_before(unsigned char *at, const unsigned char *end, unsigned number)
{
	size_t length = (size_t)(end - at), shift = 0;

	while (length >> shift >= 0x80)
		shift += 7;
	*--at = (unsigned char)(length >> shift);
	while (shift > 0) {
		shift -= 7;
		*--at = (unsigned char)(length >> shift | 0x80);
	}
	if (number > 15)
		*--at = (unsigned char)(number >> 4);
	*--at = (unsigned char)((number << 3 | 2) | (number > 15 ? 0x80 : 0));
	return at;
}

/** Bytes of a frame in which that way is gone until @depth messages of one type are within each
 * other, packed from the inside out. */
static size_t nested(unsigned char *data, size_t room, const struct way *way, unsigned depth)
{
	unsigned char *end = data + room, *at = end;
	unsigned rounds = depth - 1;

	while (rounds-- > 0) {
		for (unsigned i = way->n; i > way->round; i--)
			at = field_before(at, end, way->fields[i - 1]->id);
	}
	for (unsigned i = way->round; i > 0; i--)
		at = field_before(at, end, way->fields[i - 1]->id);
	memmove(data, at, (size_t)(end - at));
	return (size_t)(end - at);
}

static unsigned way_try(const struct way *way)
{
	unsigned char *data = memory_new(WIRE_HEADER_MAX, 1);

	tap_note("%s…%s", way->fields[0]->name, way->fields[way->n - 1]->name);
	CU_ASSERT_TRUE(header_ok(data, nested(data, WIRE_HEADER_MAX, way, WIRE_DEPTH)));
	CU_ASSERT_FALSE(header_ok(data, nested(data, WIRE_HEADER_MAX, way, WIRE_DEPTH + 1)));
	CU_ASSERT_FALSE(header_ok(data, nested(data, WIRE_HEADER_MAX, way, 200000)));
	free(data);
	return 1;
}

/** Try all ways round that begin with @way, which has led to @type. Returns how many there are. */
static unsigned ways_try(const struct way *way, const ProtobufCMessageDescriptor *type)
{
	unsigned found = 0;

	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];
		struct way next = *way;
		bool back = false;

		if (field->type != PROTOBUF_C_TYPE_MESSAGE)
			continue;
		CU_ASSERT_FATAL(way->n < sizeof(way->fields) / sizeof(way->fields[0]));
		next.fields[next.n++] = field;
		for (next.round = 1; !back && next.round <= way->n; next.round += !back)
			back = way->fields[next.round - 1]->descriptor == field->descriptor;
		found += back ? way_try(&next) : ways_try(&next, field->descriptor);
	}
	return found;
}

static void nesting_is_limited_before_it_recurses(void)
{
	struct way frame = {.n = 0};

	/* open.place, status_ask.place and switch_ask.place with children, status.below */
	CU_ASSERT(ways_try(&frame, &evspace__frame__descriptor) >= 4);
}

/* What a terminal obeys, what begins a line of its own, and what is no text. */
static const char hostile[] = "a\nb\033[2J\302\233m\377";

static unsigned text_try(const struct way *way)
{
	const ProtobufCMessageDescriptor *last = way->fields[way->n - 2]->descriptor;
	bool lines = last == &evspace__map_texts__descriptor;
	unsigned char data[256], *end = data + sizeof(data), *at = end - strlen(hostile);
	Evspace__Frame *frame;
	struct error e;
	size_t n;

	memcpy(at, hostile, strlen(hostile));
	for (unsigned i = way->n; i > 0; i--)
		at = field_before(at, end, way->fields[i - 1]->id);
	frame = wire_header_parse(at, (size_t)(end - at), &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(frame);
	n = evspace__frame__pack(frame, data);
	wire_header_free(frame);
	/* It is there, as it came or as it may be printed. */
	if (memmem(data, n, lines ? hostile : "a?b?[2J??m?", strlen(hostile)))
		return 1;
	tap_note("%s.%s", last->name, way->fields[way->n - 1]->name);
	CU_FAIL("a text that could be obeyed");
	return 1;
}

/** Try all texts to which @way, which has led to @type, leads. Returns how many there are. */
static unsigned texts_try(const struct way *way, const ProtobufCMessageDescriptor *type)
{
	unsigned found = 0;

	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];
		struct way next = *way;
		bool back = false;

		CU_ASSERT_FATAL(way->n < sizeof(way->fields) / sizeof(way->fields[0]));
		next.fields[next.n++] = field;
		for (unsigned k = 0; k < way->n; k++)
			back |= way->fields[k]->descriptor == field->descriptor;
		if (field->type == PROTOBUF_C_TYPE_STRING)
			found += text_try(&next);
		else if (field->type == PROTOBUF_C_TYPE_MESSAGE && !back)
			found += texts_try(&next, field->descriptor);
	}
	return found;
}

static void texts_can_be_printed(void)
{
	struct way frame = {.n = 0};

	CU_ASSERT(texts_try(&frame, &evspace__frame__descriptor) >= 60);
}

static void memory_for_headers_is_limited(void)
{
	/* Frame.open.place with 400,000 empty children: 2 bytes each here, many more as structs. */
	size_t inner = 800000, n = 0;
	unsigned char *data = memory_new(WIRE_HEADER_MAX, 1);
	struct arena arena;
	struct error e;

	for (unsigned level = 0; level < 2; level++) {
		size_t length = inner + (level ? 0 : 4);

		data[n++] = level ? 8 << 3 | 2 : 2 << 3 | 2;
		data[n++] = (unsigned char)(length | 0x80);
		data[n++] = (unsigned char)(length >> 7 | 0x80);
		data[n++] = (unsigned char)(length >> 14 & 0x7f);
	}
	for (size_t i = 0; i < inner; i += 2)
		data[n + i] = 8 << 3 | 2;
	arena_init(&arena, 16u << 20);
	CU_ASSERT_PTR_NULL(wire_header_parse_in(&arena.allocator, data, n + inner, &e));
	CU_ASSERT_EQUAL(errno, EPROTO);
	arena_reset(&arena);
	arena.limit = 256u << 20;
	CU_ASSERT_PTR_NOT_NULL(wire_header_parse_in(&arena.allocator, data, n + inner, &e));
	arena_fini(&arena);
	free(data);
}

/* --- plan parts --------------------------------------------------------------------------- */

static struct plan_stage reduce_last = {.level = LEVEL_THREAD,
					.kind = (char *)(uintptr_t) "reduce",
					.args = (char *)(uintptr_t) "last"};
static struct plan_stage keep_all = {
	.level = LEVEL_ALL, .kind = (char *)(uintptr_t) "filter", .args = (char *)(uintptr_t) ""};

/** A part of its own: free with wire_plan_place_free(). */
static struct plan_place *place_new(uint32_t index, const char *node)
{
	struct plan_place *place = memory_new(1, sizeof(*place));

	place->index = index;
	place->node = memory_copy(node);
	place->cluster = memory_copy("4W");
	place->address = memory_copy("10.0.0.1:7440");
	place->children = memory_new(4, sizeof(struct plan_place *));
	return place;
}

static struct plan_place *place_below(struct plan_place *parent, uint32_t index, const char *node)
{
	return parent->children[parent->n_children++] = place_new(index, node);
}

/** Over the wire's form and back. NULL when it is refused. */
static struct plan_place *carried(const struct plan_place *place)
{
	Evspace__Place *message = wire_place_new(place);
	struct error e = {""};
	struct plan_place *back = wire_plan_place(message, &e);

	CU_ASSERT(back || (errno == EPROTO && e.text[0]));
	wire_place_free(message);
	return back;
}

static int carries(const struct plan_place *place)
{
	struct plan_place *back = carried(place);
	int ok = back != NULL;

	wire_plan_place_free(back);
	return ok;
}

static void places_come_back_the_same(void)
{
	struct plan_place *root = place_new(0, "gateway"), *back;
	struct plan_place *leaf = place_below(root, NAME_PLACE_MAX, "w0");

	leaf->leaf = leaf->own = true;
	leaf->local = &reduce_last;
	leaf->n_local = 1;
	root->joined = &keep_all;
	root->n_joined = 1;
	place_below(root, 2, "w1");
	back = carried(root);
	CU_ASSERT_PTR_NOT_NULL_FATAL(back);
	CU_ASSERT_STRING_EQUAL(back->node, "gateway");
	CU_ASSERT_STRING_EQUAL(back->joined[0].kind, "filter");
	CU_ASSERT_EQUAL(back->joined[0].level, LEVEL_ALL);
	CU_ASSERT_EQUAL_FATAL(back->n_children, 2);
	CU_ASSERT_TRUE(back->children[0]->leaf && back->children[0]->own);
	CU_ASSERT_EQUAL(back->children[0]->index, NAME_PLACE_MAX);
	CU_ASSERT_STRING_EQUAL(back->children[0]->local[0].args, "last");
	CU_ASSERT_STRING_EQUAL(back->children[1]->cluster, "4W");
	CU_ASSERT_STRING_EQUAL(back->children[1]->address, "10.0.0.1:7440");
	wire_plan_place_free(back);
	leaf->local = root->joined = NULL;
	leaf->n_local = root->n_joined = 0;
	wire_plan_place_free(root);
}

static void places_are_checked(void)
{
	struct plan_place *root = place_new(0, "gateway");
	struct plan_place *child = place_below(root, 1, "w0");
	struct plan_stage stage = reduce_last;
	char longer[NAME_BYTES + 8];

	CU_ASSERT_TRUE(carries(root));
	child->index = 0;
	CU_ASSERT_FALSE(carries(root));
	child->index = NAME_PLACE_MAX + 1;
	CU_ASSERT_FALSE(carries(root));
	child->index = UINT32_MAX;
	CU_ASSERT_FALSE(carries(root));
	child->index = 1;

	child->node[0] = '\0';
	CU_ASSERT_FALSE(carries(root));
	child->node[0] = '\033';
	CU_ASSERT_FALSE(carries(root));
	child->node[0] = 'w';
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	free(child->address);
	child->address = memory_copy(longer);
	CU_ASSERT_FALSE(carries(root));
	child->address[0] = '\0';

	child->local = &stage;
	child->n_local = 1;
	CU_ASSERT_TRUE(carries(root));
	stage.level = LEVEL_CLUSTER;
	CU_ASSERT_FALSE(carries(root));
	stage.level = LEVEL_COUNT;
	CU_ASSERT_FALSE(carries(root));
	child->joined = &stage;
	child->n_joined = 1;
	child->n_local = 0;
	CU_ASSERT_FALSE(carries(root));
	stage.level = LEVEL_ALL;
	CU_ASSERT_TRUE(carries(root));
	child->local = child->joined = NULL;
	child->n_joined = 0;
	wire_plan_place_free(root);
}

static void places_are_limited_in_depth_and_number(void)
{
	struct plan_place *root = place_new(0, "gateway"), *at = root, *wide;
	char node[16];

	for (unsigned i = 1; i < WIRE_DEPTH; i++)
		at = place_below(at, i, "inner");
	CU_ASSERT_TRUE(carries(root));
	place_below(at, WIRE_DEPTH, "too deep");
	CU_ASSERT_FALSE(carries(root));
	wire_plan_place_free(root);

	wide = place_new(0, "root");
	free(wide->children);
	wide->children = memory_new(NAME_PLACE_MAX + 1, sizeof(struct plan_place *));
	for (uint32_t i = 1; i <= NAME_PLACE_MAX; i++) {
		snprintf(node, sizeof(node), "w%u", i);
		place_below(wide, i, node);
	}
	CU_ASSERT_TRUE(carries(wide));
	place_below(wide, NAME_PLACE_MAX, "one more");
	CU_ASSERT_FALSE(carries(wide));
	wire_plan_place_free(wide);
}

/* A large header is rare: what others take stays there behind one. */
static void memory_for_headers_stays(void)
{
	enum { LARGE = 10000 };
	struct arena arena;
	void *first;

	arena_init(&arena, 1u << 20);
	first = arena_take(&arena, LARGE);
	CU_ASSERT_PTR_NOT_EQUAL(arena_take(&arena, LARGE), first);
	arena_reset(&arena);
	CU_ASSERT_PTR_EQUAL(arena_take(&arena, LARGE), first);
	arena_fini(&arena);
}

int main(void)
{
	CU_TestInfo headers[] = {
		{"fronts are held to the limits", fronts_within_limits},
		{"headers are whole and of a known kind", headers_of_a_known_kind},
		{"what is not known is dropped, however deep", unknown_is_dropped},
		{"nesting is limited before anything recurses",
		 nesting_is_limited_before_it_recurses},
		{"no text in a header is obeyed by a terminal", texts_can_be_printed},
		{"a header's memory is limited", memory_for_headers_is_limited},
		{"a header's memory stays", memory_for_headers_stays},
		CU_TEST_INFO_NULL,
	};
	CU_TestInfo places[] = {
		{"plan parts come back the same", places_come_back_the_same},
		{"plan parts are checked", places_are_checked},
		{"plan parts: 16 deep, 16,384 in all", places_are_limited_in_depth_and_number},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "wire", .pTests = headers},
		{.pName = "place", .pTests = places},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
