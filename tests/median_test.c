/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests medians: what the stage says is what sorting says, as near as it promises. */
#include "tests/random-trees.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <stdlib.h>

#include "tree/stage/fold.h"

static int compare_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of the bytes of @n tuples, by the stage. */
static const struct median *median_by_stage(struct place *p, const uint64_t *values, uint32_t n)
{
	const struct median *found = NULL;
	struct batch_cursor c = {0};
	struct run_view view;
	struct tuple *t;

	*(struct part *)batch_add(&p->batch, RUN_PART, 1, RANDOM_TREES_WAVE, 1, 0) =
		(struct part){.clock = CLOCK_LINE_NS, .read = n};
	t = batch_add(&p->batch, RUN_TUPLES, name_id(1, 0), 0, n, 0);
	for (uint32_t i = 0; i < n; i++)
		t[i] = (struct tuple){.op = OP_MPI_SEND, .start = 1, .end = 2, .bytes = values[i]};
	place_apply(p, &median_ops, LEVEL_ALL, "of bytes");
	while (batch_next(&p->batch, &c, &view))
		for (unsigned i = 0; view.run->kind == RUN_MEDIANS && i < view.run->count; i++)
			if (view.medians[i].all > 0) {
				CU_ASSERT_PTR_NULL(found);
				found = &view.medians[i];
			}
	return found;
}

/* Small values, where it is exact, and large ones; even numbers of them, and odd ones. */
static void medians_are_right(void)
{
	grove_seed = 7;
	for (uint32_t n = 1; n <= 200; n++) {
		uint64_t values[200], most = n % 3 ? UINT64_C(1) << (n % 40) : 32, right, told;
		const struct median *median;
		struct place p;

		for (uint32_t i = 0; i < n; i++)
			values[i] = random_below(&grove_seed, most);
		place_init(&p, 1);
		median = median_by_stage(&p, values, n);
		qsort(values, n, sizeof(*values), compare_values);
		CU_ASSERT_PTR_NOT_NULL_FATAL(median);
		right = values[n / 2];
		told = median_value(median);
		CU_ASSERT_EQUAL(median->all, n);
		CU_ASSERT(right < 32 ? told == right
				     : (told > right ? told - right : right - told) <= right / 32);
		place_fini(&p);
	}
}

static CU_TestInfo median_cases[] = {
	{"medians are right, within what is said of them", medians_are_right},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "median", .pTests = median_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
