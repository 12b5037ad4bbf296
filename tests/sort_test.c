/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests sort: order, nothing lost or made up, numbers right. */
#include "tree/stage/stage.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <string.h>

#define ELEMENTS 20
#define LENGTH	 50

/* Tuples that say in `comm` and `bytes` which element and number they have. */
static void fill(struct batch *b, uint64_t *seed)
{
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		uint32_t count = (uint32_t)random_below(seed, LENGTH);
		uint64_t first = random_below(seed, 1000), start = random_below(seed, 1000);
		struct tuple *out;

		if (i % 5 == 0) {
			struct part *part = batch_add(b, RUN_PART, i, 1, 1, 0);

			*part = (struct part){.clock = CLOCK_LINE_NS};
		}
		out = batch_add(b, RUN_TUPLES, i, first, count, i == 3 ? 2 : 0);
		for (uint32_t k = 0; k < count; k++) {
			start += random_below(seed, 60);
			out[k] = (struct tuple){.start = start, .bytes = first + k, .comm = i};
		}
	}
}

static void check_sorted(const struct batch *b, uint64_t tuples)
{
	struct batch_cursor c = {0};
	struct run_view view;
	uint64_t last = 0, next[ELEMENTS] = {0}, lost = 0;
	unsigned parts = 0;

	while (batch_next(b, &c, &view)) {
		if (view.run->kind == RUN_PART) {
			parts++;
			CU_ASSERT_EQUAL(last, 0);
			continue;
		}
		lost += view.lost;
		for (unsigned i = 0; i < view.run->count; i++) {
			const struct tuple *t = &view.tuples[i];

			CU_ASSERT(t->start >= last);
			last = t->start;
			CU_ASSERT_EQUAL(t->comm, view.run->element);
			CU_ASSERT_EQUAL(t->bytes, view.run->first + i);
			/* Of one element they come in order. */
			CU_ASSERT(next[t->comm] == 0 || t->bytes == next[t->comm]);
			next[t->comm] = t->bytes + 1;
			tuples--;
		}
	}
	CU_ASSERT_EQUAL(tuples, 0);
	CU_ASSERT_EQUAL(lost, 2);
	CU_ASSERT_EQUAL(parts, ELEMENTS / 5 + 1);
}

static void random_waves(void)
{
	struct names *names = names_new(0);
	struct stage *s = stage_new(&sort_ops, LEVEL_ALL, names, "", NULL);
	struct ask ask = {.wave = 1};
	struct batch b;
	uint64_t seed = 1;

	batch_init(&b);
	for (int i = 0; i < 50; i++) {
		struct batch_cursor c = {0};
		struct run_view view;
		uint64_t tuples = 0;

		fill(&b, &seed);
		while (batch_next(&b, &c, &view))
			tuples += view.run->kind == RUN_TUPLES ? view.run->count : 0;
		CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &b), 0);
		check_sorted(&b, tuples);
		batch_clear(&b);
	}
	batch_fini(&b);
	stage_free(s);
	names_free(names);
}

static void more_than_a_run_holds(void)
{
	struct names *names = names_new(0);
	struct stage *s = stage_new(&sort_ops, LEVEL_ALL, names, "time", NULL);
	struct ask ask = {.wave = 1};
	struct batch_cursor c = {0};
	struct run_view view;
	struct batch b;
	uint64_t number = 0;

	batch_init(&b);
	*(struct part *)batch_add(&b, RUN_PART, 0, 1, 1, 0) = (struct part){.clock = CLOCK_LINE_NS};
	for (int i = 0; i < 3; i++) {
		struct tuple *out = batch_add(&b, RUN_TUPLES, 5, number, 40000, 0);

		for (uint32_t k = 0; k < 40000; k++)
			out[k] = (struct tuple){.start = number++};
	}
	CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &b), 0);
	number = 0;
	batch_next(&b, &c, &view);
	while (batch_next(&b, &c, &view)) {
		CU_ASSERT_EQUAL(view.run->first, number);
		CU_ASSERT_EQUAL(view.tuples[0].start, number);
		number += view.run->count;
	}
	CU_ASSERT_EQUAL(number, 120000);
	batch_fini(&b);
	stage_free(s);
	names_free(names);
}

static CU_TestInfo sort_cases[] = {
	{"random waves", random_waves},
	{"more than a run holds", more_than_a_run_holds},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "sort", .pTests = sort_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
