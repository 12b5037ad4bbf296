/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests types of tuples: which texts are one, and that fields lie as C has them. */
#include "tree/data/fields.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"

struct mixed {
	int32_t a;
	double b[3];
	char c[5];
	uint32_t d;
	float e;
	uint64_t f;
	int64_t g;
	char h;
};

static void lie_as_in_c(void)
{
	const size_t at[] = {offsetof(struct mixed, a), offsetof(struct mixed, b),
			     offsetof(struct mixed, c), offsetof(struct mixed, d),
			     offsetof(struct mixed, e), offsetof(struct mixed, f),
			     offsetof(struct mixed, g), offsetof(struct mixed, h)};
	struct fields fields;

	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields,
					   "a i32, b f64[3], c text[5], d u32, e f32, f u64, g "
					   "i64, h text",
					   NULL),
			      0);
	CU_ASSERT_EQUAL(fields.n, 8);
	CU_ASSERT_EQUAL(fields.bytes, sizeof(struct mixed));
	for (uint32_t i = 0; i < fields.n; i++)
		CU_ASSERT_EQUAL(fields.field[i].at, at[i]);
	CU_ASSERT_EQUAL(fields_parse(&fields, "c text[5]", NULL), 0);
	CU_ASSERT_EQUAL(fields.bytes, 5);
}

static void one_text_for_a_type(void)
{
	char text[FIELDS_TEXT];
	struct fields fields;

	CU_ASSERT_EQUAL(fields_parse(&fields, " a\tf64,b   f64[1] ,c_1 text[7]\n", NULL), 0);
	CU_ASSERT_STRING_EQUAL(fields_text(&fields, text), "a f64, b f64, c_1 text[7]");
}

/* As many of the longest as there may be. */
static void largest(void)
{
	char text[FIELDS_TEXT] = "", again[FIELDS_TEXT];
	struct fields fields;
	size_t used = 0;

	for (unsigned i = 0; i < FIELDS_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%sn%030u text[8]",
					 i ? ", " : "", i);
	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, text, NULL), 0);
	CU_ASSERT_EQUAL(fields.bytes, FIELDS_BYTES);
	CU_ASSERT_STRING_EQUAL(fields_text(&fields, again), text);
}

static void wrong(const char *text, const char *why)
{
	struct fields fields = {.n = 7};
	struct error e = {""};

	errno = 0;
	CU_ASSERT_EQUAL(fields_parse(&fields, text, &e), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_EQUAL(fields.n, 7);
	if (!strstr(e.text, why))
		CU_FAIL("another message");
}

static void no_types(void)
{
	wrong("", "\"\" is no field");
	wrong("a", "\"a\" is no field");
	wrong("a f64,", "\"\" is no field");
	wrong("a f65", "is no field");
	wrong("1a f64", "is no field");
	wrong("a f64[0]", "is no field");
	wrong("a f64[-1]", "is no field");
	wrong("a f64[18446744073709551617]", "is no field");
	wrong("a f64[", "is no field");
	wrong("a f64 b f64", "\"b f64\" stands where a comma should");
	wrong("a f64, a i32", "two fields are called a");
	wrong("a f64[33]", "these are 264");
	wrong("a text[256], b text", "up to field b");
	wrong("abcdefghijklmnopqrstuvwxyz0123456 f64", "is no field");
}

/* Whatever bytes: no fault, and what is taken is a type. */
static void any_bytes(void)
{
	static const char letters[] = "ab1_ ,[]f64i32u32text\n\377";
	uint64_t state = 39;
	unsigned taken = 0;

	for (int i = 0; i < 200000; i++) {
		char text[64], again[FIELDS_TEXT];
		size_t n = random_below(&state, sizeof(text));
		struct fields fields, other;

		for (size_t k = 0; k < n; k++)
			text[k] = letters[random_below(&state, sizeof(letters) - 1)];
		if (i % 2 == 0)
			n = (size_t)snprintf(text, sizeof(text), "a%c f64%s, b%c text[%u]",
					     letters[n % 6], n % 3 ? "[2]" : "", letters[n % 4],
					     (unsigned)(n * 5));
		text[n < sizeof(text) ? n : sizeof(text) - 1] = '\0';
		if (fields_parse(&fields, text, NULL) < 0)
			continue;
		taken++;
		if (fields.bytes > FIELDS_BYTES || fields.n > FIELDS_MAX ||
		    fields_parse(&other, fields_text(&fields, again), NULL) < 0 ||
		    other.bytes != fields.bytes)
			CU_FAIL("a text of a type gives another type");
	}
	CU_ASSERT_TRUE(taken > 1000);
}

static void other_byte_order(void)
{
	struct {
		int32_t a;
		uint64_t b[2];
		char c[3];
	} t = {0x01020304, {0x0102030405060708, 1}, "xy"}, before = t;
	struct fields fields;

	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, "a i32, b u64[2], c text[3]", NULL), 0);
	fields_swap(&fields, &t);
	CU_ASSERT(t.a == 0x04030201 && t.b[0] == 0x0807060504030201 &&
		  t.b[1] == 0x0100000000000000 && strcmp(t.c, "xy") == 0);
	fields_swap(&fields, &t);
	CU_ASSERT(t.a == before.a && t.b[0] == before.b[0] && t.b[1] == before.b[1]);
}

static CU_TestInfo fields_cases[] = {
	{"fields lie as in a struct of C", lie_as_in_c},
	{"a type has one text", one_text_for_a_type},
	{"the largest type", largest},
	{"what is no type, and why", no_types},
	{"any bytes", any_bytes},
	{"a host of the other byte order", other_byte_order},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "fields", .pTests = fields_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
