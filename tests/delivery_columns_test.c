/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the client's accounts are the same whether the columns of an answer are open or not,
 * and that they stay packed. */
#include "consumers/client/delivery.h"

#include <string.h>

#include "tests/delivery-scope.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tree/data/columns-batch.h"
#include "tree/data/names.h"

#define LEAVES 3u
#define STEPS  400

/* A part of @leaf with a few runs: what was there before may come again, and some are lost. */
static void put_leaf(struct batch *b, uint64_t *seed, uint32_t leaf, uint64_t wave)
{
	*(struct part *)batch_add(b, RUN_PART, leaf, wave, 1, 0) =
		(struct part){.clock = CLOCK_LINE_NS};
	for (uint32_t element = 0; element < 2; element++) {
		const uint32_t n = 1 + (uint32_t)random_below(seed, 40);
		const uint64_t lost = random_below(seed, 4) ? 0 : random_below(seed, 5);
		const uint64_t first = wave * 30 + random_below(seed, 30) - 10 + lost;
		struct tuple *t = batch_add(b, RUN_TUPLES, name_id(leaf, element), first, n, lost);

		if (random_below(seed, 6) == 0)
			b->last->flags |= RUN_SPARSE;
		memset(t, 0, n * sizeof(*t));
		for (uint32_t i = 0; i < n; i++)
			t[i].start = t[i].end = first + i;
	}
	if (random_below(seed, 4) == 0)
		batch_discard(b, name_id(leaf, 0), wave * 30 + 60, 1 + random_below(seed, 5));
	if (random_below(seed, 4) == 0)
		memset(batch_add(b, RUN_NEWEST, name_id(leaf, 3), 0, 12, 0), 0,
		       12 * sizeof(struct newest));
}

static void copy(struct batch *to, const struct batch *from)
{
	struct batch_cursor c = {0};
	struct run_view view;

	batch_init(to);
	while (batch_next_packed(from, &c, &view))
		batch_keep(to, &view);
}

/* Are they the same, run by run? */
static bool same(const struct batch *a, const struct batch *b)
{
	struct batch_cursor ca = {0}, cb = {0};
	struct run_view va, vb;

	while (batch_next_packed(a, &ca, &va)) {
		if (!batch_next_packed(b, &cb, &vb) || va.lost != vb.lost ||
		    memcmp(va.run, vb.run, sizeof(*va.run)) != 0 ||
		    memcmp(va.records, vb.records,
			   va.run->count * run_record_bytes(va.run->kind)) != 0)
			return false;
	}
	return !batch_next_packed(b, &cb, &vb);
}

/* How many runs of columns it has. */
static unsigned packed(const struct batch *b)
{
	struct batch_cursor c = {0};
	struct run_view view;
	unsigned n = 0;

	while (batch_next_packed(b, &c, &view))
		n += view.run->kind == RUN_COLUMNS;
	return n;
}

static void any_answers(enum reading reading)
{
	struct delivery *open = delivery_new(), *closed = delivery_new();
	const struct delivery_times times = {.asked_ns = 1, .came_ns = 2};
	struct delivery_sums sums[2], all = {0};
	uint64_t seed = 11;
	unsigned stayed = 0;

	delivery_scope(open, reading, LEAVES);
	delivery_scope(closed, reading, LEAVES);
	for (uint64_t step = 1; step <= STEPS; step++) {
		Evspace__Answer a = EVSPACE__ANSWER__INIT;
		struct batch plain, columns;

		a.wave = step < 3 || random_below(&seed, 5) ? step : step - 2;
		a.again = a.wave != step;
		batch_init(&plain);
		for (uint32_t leaf = 1; leaf <= LEAVES; leaf++) {
			if (random_below(&seed, 4) == 0)
				continue;
			put_leaf(&plain, &seed, leaf, a.wave);
			a.leaves++;
		}
		copy(&columns, &plain);
		columns_batch_pack(&columns);
		delivery_take(open, &a, &times, &plain, &sums[0]);
		delivery_take(closed, &a, &times, &columns, &sums[1]);
		stayed += packed(&columns);
		columns_batch_open(&columns);
		CU_ASSERT_EQUAL(memcmp(&sums[0], &sums[1], sizeof(sums[0])), 0);
		CU_ASSERT(same(&plain, &columns));
		all.repeated += sums[0].repeated;
		all.tuples += sums[0].tuples;
		batch_fini(&plain);
		batch_fini(&columns);
	}
	CU_ASSERT_EQUAL(delivery_unaccounted(open), delivery_unaccounted(closed));
	CU_ASSERT_EQUAL(delivery_owed(open), delivery_owed(closed));
	CU_ASSERT(all.tuples > STEPS && (all.repeated > STEPS || reading != READ_STREAM));
	CU_ASSERT(stayed > STEPS);
	delivery_free(open);
	delivery_free(closed);
}

static void of_streams(void)
{
	any_answers(READ_STREAM);
}

static void of_newest(void)
{
	any_answers(READ_LATEST);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"columns of streams count as what they stand for", of_streams},
		{"... and those of newest tuples", of_newest},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "delivery of columns", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
