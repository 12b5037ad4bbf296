/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests frames as bytes: limits, headers, and plan parts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"
#include "tests/tap.h"
#include "tree/arena.h"
#include "tree/names.h"
#include "tree/wire.h"

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

/** Bytes of Frame.F.G.children.children…, @depth places deep, packed from the inside out; F and G
 * are the numbers of fields. */
static size_t nested_places(unsigned char *data, size_t room, unsigned depth, unsigned f,
			    unsigned g)
{
	size_t at = room, bytes = 0;

	for (unsigned i = 0; i < depth + 1; i++) {
		size_t length = bytes;
		unsigned char varint[4];
		unsigned n = 0;

		do {
			varint[n++] = (unsigned char)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
			length >>= 7;
		} while (length);
		at -= n;
		memcpy(data + at, varint, n);
		data[--at] = (unsigned char)((i == depth ? f : i == depth - 1 ? g : 8) << 3 | 2);
		bytes = room - at;
	}
	memmove(data, data + at, bytes);
	return bytes;
}

static void nesting_is_limited_before_it_recurses(void)
{
	/* Frame.open.place and Frame.switch_ask.place */
	static const unsigned ways[][2] = {{2, 8}, {10, 6}};
	unsigned char *data = memory_new(WIRE_HEADER_MAX, 1);
	size_t n;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		unsigned f = ways[i][0], g = ways[i][1];

		n = nested_places(data, WIRE_HEADER_MAX, WIRE_PLACE_DEPTH, f, g);
		CU_ASSERT_TRUE(header_ok(data, n));
		n = nested_places(data, WIRE_HEADER_MAX, WIRE_PLACE_DEPTH + 1, f, g);
		CU_ASSERT_FALSE(header_ok(data, n));
		n = nested_places(data, WIRE_HEADER_MAX, 200000, f, g);
		CU_ASSERT_FALSE(header_ok(data, n));
	}
	free(data);
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

static struct plan_stage reduce_last = {LEVEL_THREAD, (char *)(uintptr_t) "reduce",
					(char *)(uintptr_t) "last"};
static struct plan_stage keep_all = {LEVEL_ALL, (char *)(uintptr_t) "filter",
				     (char *)(uintptr_t) ""};

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

	leaf->leaf = true;
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
	CU_ASSERT_TRUE(back->children[0]->leaf);
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

	for (unsigned i = 1; i < WIRE_PLACE_DEPTH; i++)
		at = place_below(at, i, "inner");
	CU_ASSERT_TRUE(carries(root));
	place_below(at, WIRE_PLACE_DEPTH, "too deep");
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

int main(void)
{
	CU_TestInfo headers[] = {
		{"fronts are held to the limits", fronts_within_limits},
		{"headers are whole and of a known kind", headers_of_a_known_kind},
		{"nesting is limited before anything recurses",
		 nesting_is_limited_before_it_recurses},
		{"a header's memory is limited", memory_for_headers_is_limited},
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
