/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is made of the tuples that several archives have of an element: each once, in order.
 */
#include "consumers/keep/merged.h"

#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"

#define MOST	 400
#define ARCHIVES 4

/* What each archive says of each number, and what has come of them. */
enum word { NOTHING, HAS, LOST, DISCARDED };

static enum word words[ARCHIVES][MOST];

/* Of a program's own element, of this type. */
static bool own;
#define OWN "n u64, archive u64"

static uint64_t next, n_came, n_holes, n_discarded;

static const struct clock_line *line_of(unsigned archive)
{
	static struct clock_line lines[ARCHIVES];

	lines[archive].base_ns = archive;
	return &lines[archive];
}

static void give(void *arg, struct merged_element *of, const struct merged_piece *piece)
{
	(void)arg;
	(void)of;
	if (!piece->tuples) {
		CU_ASSERT_EQUAL(piece->first - piece->count, next);
		next = piece->first;
		n_holes += piece->count;
		n_discarded += piece->discarded ? piece->count : 0;
		return;
	}
	CU_ASSERT_EQUAL(piece->first, next);
	next = piece->first + piece->count;
	for (uint64_t i = 0; i < piece->count; i++) {
		const uint64_t *t = (const void *)((const char *)piece->tuples + i * piece->bytes);
		const struct tuple *tuple = piece->head ? NULL : (const void *)t;

		CU_ASSERT_EQUAL(tuple ? tuple->start : t[1], piece->first + i);
		CU_ASSERT_EQUAL(words[piece->line->base_ns][piece->first + i], HAS);
		CU_ASSERT_EQUAL(tuple ? tuple->bytes : t[2], (uint64_t)piece->line->base_ns);
		n_came++;
	}
	if (piece->head)
		CU_ASSERT_STRING_EQUAL(piece->head + 1, OWN);
}

/* @n tuples of a program's own element, written at @ticks. */
static void typed_run(struct batch *b, uint64_t first, uint64_t n, uint64_t lost, unsigned archive,
		      uint64_t ticks)
{
	const uint32_t head = typed_head_words(OWN);
	struct typed_word *to;
	struct fields fields;

	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, OWN, NULL), 0);
	to = typed_head(batch_add(b, RUN_TYPED, 1, first, head + 3 * (uint32_t)n, lost), &fields,
			OWN);
	for (uint64_t i = 0; i < n; i++)
		to = typed_put(to, ticks, (const uint64_t[]){first + i, archive}, 16);
}

/* Go on with an archive at *@at by a run of at most @most of its tuples, to be noted or taken. */
static void run_step(struct merged *m, struct merged_element *of, unsigned archive, uint64_t *at,
		     uint64_t most, bool note)
{
	struct batch b;
	struct batch_cursor cursor = {0};
	struct run_view view;
	uint64_t lost = 0, n = 0;
	enum word word = words[archive][*at];
	struct tuple *t;

	while (*at < MOST && word != HAS && word == words[archive][*at])
		lost++, (*at)++;
	while (word != DISCARDED && *at + n < MOST && n < most && words[archive][*at + n] == HAS)
		n++;
	/* of which nobody says anything */
	lost = word == NOTHING ? 0 : lost;
	batch_init(&b);
	if (word == DISCARDED) {
		batch_discard(&b, 1, *at, lost);
	} else if (own && (n > 0 || lost > 0)) {
		typed_run(&b, *at, n, lost, archive, 0);
	} else if (n > 0 || lost > 0) {
		t = batch_add(&b, RUN_TUPLES, 1, *at, (uint32_t)n, lost);
		for (uint64_t i = 0; i < n; i++)
			t[i] = (struct tuple){.start = *at + i, .bytes = archive};
	}
	while (batch_next_packed(&b, &cursor, &view)) {
		if (note) {
			CU_ASSERT_TRUE(merged_note(of, &view, line_of(archive)));
		} else {
			merged_take(m, of, &view, line_of(archive), give, NULL);
		}
	}
	batch_fini(&b);
	*at += n;
}

static void archives_make(uint64_t *r)
{
	memset(words, 0, sizeof(words));
	for (unsigned a = 0; a < ARCHIVES; a++) {
		uint64_t at = random_below(r, 3) ? 0 : random_below(r, MOST);

		while (at < MOST) {
			uint64_t n = 1 + random_below(r, 60);
			enum word word = random_below(r, 2) ? HAS : (enum word)random_below(r, 4);

			while (n-- > 0 && at < MOST)
				words[a][at++] = word;
		}
	}
}

/* What has to come of all: from the first number that anybody has said something of to the last. */
static void archives_expect(uint64_t *tuples, uint64_t *holes, uint64_t *discarded)
{
	uint64_t first = MOST, end = 0;

	*tuples = *holes = *discarded = 0;
	for (uint64_t i = 0; i < MOST; i++) {
		for (unsigned a = 0; a < ARCHIVES; a++) {
			if (words[a][i] == NOTHING)
				continue;
			first = i < first ? i : first;
			end = i + 1;
		}
	}
	for (uint64_t i = first; i < end; i++) {
		bool has = false, dropped = false;

		for (unsigned a = 0; a < ARCHIVES; a++) {
			has |= words[a][i] == HAS;
			dropped |= words[a][i] == DISCARDED;
		}
		*tuples += has;
		*holes += !has;
		*discarded += !has && dropped;
	}
	next = first;
}

static void each_once_and_in_order(void)
{
	uint64_t r = 48;

	for (unsigned round = 0; round < 500; round++) {
		uint64_t at[ARCHIVES] = {0}, tuples, holes, discarded;
		struct merged m;
		struct merged_element *of;

		own = round % 3 == 2;
		merged_init(&m);
		of = merged_get(&m, "/a/b/rank0/t0/p2p");
		archives_make(&r);
		archives_expect(&tuples, &holes, &discarded);
		n_came = n_holes = n_discarded = 0;
		for (unsigned a = 0; a < ARCHIVES; a++) {
			while (at[a] < MOST)
				run_step(&m, of, a, &at[a], 1 + random_below(&r, 30), true);
			at[a] = 0;
		}
		for (unsigned left = ARCHIVES; left > 0;) {
			unsigned a = (unsigned)random_below(&r, ARCHIVES);

			if (at[a] >= MOST)
				continue;
			run_step(&m, of, a, &at[a], 1 + random_below(&r, 30), false);
			left -= at[a] >= MOST;
		}
		merged_end(&m, give, NULL);
		CU_ASSERT_EQUAL(n_came, tuples);
		CU_ASSERT_EQUAL(n_holes, holes);
		CU_ASSERT_EQUAL(n_discarded, discarded);
		CU_ASSERT_EQUAL(m.holes, holes);
		merged_fini(&m);
	}
}

static void names_are_the_same_element(void)
{
	struct merged m;
	struct merged_element *of, *other;

	merged_init(&m);
	of = merged_get(&m, "/a/b/rank0/t0/p2p");
	other = merged_get(&m, "/a/b/rank1/t0/p2p");
	CU_ASSERT_PTR_NOT_EQUAL(of, other);
	CU_ASSERT_PTR_EQUAL(merged_call(&m, of, "/a/b/rank0.17/t0/p2p"), of);
	CU_ASSERT_PTR_EQUAL(merged_get(&m, "/a/b/rank0.17/t0/p2p"), of);
	CU_ASSERT_PTR_EQUAL(merged_get(&m, "/a/b/rank0/t0/p2p"), of);
	CU_ASSERT_PTR_EQUAL(merged_get(&m, "/a/b/rank1/t0/p2p"), other);
	merged_fini(&m);
}

static void run_note(struct merged_element *of, uint64_t first, uint32_t count)
{
	struct batch b;
	struct batch_cursor cursor = {0};
	struct run_view view;

	batch_init(&b);
	memset(batch_add(&b, RUN_TUPLES, 1, first, count, 0), 0, count * sizeof(struct tuple));
	CU_ASSERT_TRUE_FATAL(batch_next_packed(&b, &cursor, &view));
	CU_ASSERT_TRUE(merged_note(of, &view, line_of(0)));
	batch_fini(&b);
}

static bool typed_note(struct merged_element *of, uint64_t first, uint64_t n, uint64_t ns)
{
	const struct clock_line line = {.base_ns = 5, .ns_per_tick = 1, .error_ns = 1000};
	struct batch b;
	struct batch_cursor cursor = {0};
	struct run_view view;
	bool rc;

	batch_init(&b);
	typed_run(&b, first, n, 0, 0, ns);
	CU_ASSERT_TRUE_FATAL(batch_next_packed(&b, &cursor, &view));
	rc = merged_note(of, &view, &line);
	batch_fini(&b);
	return rc;
}

/* What is written at quite another time is not the same tuple. */
static void made_anew(void)
{
	const uint64_t second = 1000000000;
	struct merged m;
	struct merged_element *of;

	merged_init(&m);
	of = merged_get(&m, "/a/b/rank0/t0/element:residual");
	CU_ASSERT_TRUE(typed_note(of, 7, 0, second));
	CU_ASSERT_TRUE(typed_note(of, 7, 3, second));
	CU_ASSERT_TRUE(typed_note(of, 5, 3, second + 2000));
	CU_ASSERT_TRUE(typed_note(of, 12, 2, 3 * second));
	CU_ASSERT_FALSE(typed_note(of, 0, 8, 9 * second));
	/* nor is what nobody else has, but was written later than those behind it, or before */
	CU_ASSERT_FALSE(typed_note(of, 10, 1, 9 * second));
	CU_ASSERT_FALSE(typed_note(of, 20, 1, 2 * second));
	CU_ASSERT_TRUE(typed_note(of, 10, 1, 2 * second));
	merged_fini(&m);
}

/* One archive knows it by its first name, another one by its second one alone, and the first one
 * learns that later. */
static void names_are_found_to_be_the_same(void)
{
	struct merged m;
	struct merged_element *later, *early;

	merged_init(&m);
	later = merged_get(&m, "/B/a1/rank1/t0/p2p");
	run_note(later, 20, 10);
	early = merged_get(&m, "/A/a1/rank1/t0/p2p");
	CU_ASSERT_PTR_NOT_EQUAL(early, later);
	run_note(early, 5, 20);
	CU_ASSERT_PTR_EQUAL(merged_call(&m, early, "/B/a1/rank1/t0/p2p"), later);
	CU_ASSERT_PTR_EQUAL(merged_self(early), later);
	CU_ASSERT_PTR_EQUAL(merged_get(&m, "/A/a1/rank1/t0/p2p"), later);
	CU_ASSERT_EQUAL(later->next, 5);
	CU_ASSERT_EQUAL(later->end, 30);
	CU_ASSERT_TRUE(later->have.n == 1 && later->have.items[0].from == 5 &&
		       later->have.items[0].to == 30);
	/* again, and of itself */
	CU_ASSERT_PTR_EQUAL(merged_call(&m, early, "/B/a1/rank1/t0/p2p"), later);
	CU_ASSERT_PTR_EQUAL(merged_call(&m, later, "/A/a1/rank1/t0/p2p"), later);
	CU_ASSERT_PTR_NULL(later->same);
	merged_fini(&m);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"each tuple comes once and in order, and holes are named", each_once_and_in_order},
		{"an element has all its names", names_are_the_same_element},
		{"two that turn out to be one", names_are_found_to_be_the_same},
		{"a program's element that was made anew is another one", made_anew},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "merged", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
