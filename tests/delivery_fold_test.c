/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the client's accounts of folded parts: late, again, overlapping, from two hosts; each
 * leaf's tuples count once. */
#include "consumers/client/delivery.h"

#include <stdlib.h>
#include <string.h>

#include "tests/delivery-scope.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tree/data/names.h"
#include "tree/data/part.h"

#define MS 1000000ull

static struct delivery *delivery;
static struct batch batch;
static struct delivery_sums sums;

/* A scope of leaves 1 to 3 and 5 to 7; place 4 is none. */
static void open_scope(enum reading reading)
{
	delivery = delivery_new();
	batch_init(&batch);
	delivery_scope(delivery, reading, DELIVERY_SCOPE_MOST);
}

static void close_scope(void)
{
	delivery_free(delivery);
	batch_fini(&batch);
}

/* Of places @from on, of which @read tuples are reduced to one total. */
static struct part *put_folded(uint32_t from, uint32_t count, uint64_t wave, uint64_t read)
{
	struct part *p = batch_add(&batch, RUN_PART, 0, wave, 1, 0);

	*p = (struct part){.clock = CLOCK_LINE_NS, .read = read, .reduced = read};
	batch.last->flags |= RUN_MANY;
	*(struct leaf_range *)batch_add(&batch, RUN_LEAVES, 0, wave, 1, 0) =
		(struct leaf_range){from, count};
	*(struct total *)batch_add(&batch, RUN_TOTALS, name_id(from, 0), 0, 1, 0) =
		(struct total){.count = read};
	return p;
}

static void put_plain(uint32_t leaf, uint64_t wave, uint64_t read)
{
	*(struct part *)batch_add(&batch, RUN_PART, leaf, wave, 1, 0) =
		(struct part){.clock = CLOCK_LINE_NS, .read = read, .reduced = read};
	*(struct total *)batch_add(&batch, RUN_TOTALS, name_id(leaf, 0), 0, 1, 0) =
		(struct total){.count = read};
}

/* Returns how many tuples the totals that are left say, which must be those of the sums. */
static uint64_t take(uint64_t wave, bool again)
{
	static const struct delivery_times times = {1000 * MS, 1500 * MS};
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	struct batch_cursor cursor = {0};
	struct run_view view;
	uint64_t n = 0;

	a.wave = wave;
	a.again = again;
	delivery_take(delivery, &a, &times, &batch, &sums);
	while (batch_next(&batch, &cursor, &view))
		n += view.run->kind == RUN_TOTALS ? view.totals[0].count : 0;
	batch_clear(&batch);
	CU_ASSERT_EQUAL(n, sums.read);
	CU_ASSERT_EQUAL(sums.unaccounted, 0);
	return n;
}

static bool owes(uint32_t leaf, uint64_t wave)
{
	return interval_set_have(&delivery_leaf_at(delivery, leaf)->owed, wave);
}

static unsigned owing(uint64_t wave)
{
	unsigned n = 0;

	for (uint32_t i = 1; i <= 7; i++)
		n += i != 4 && owes(i, wave);
	return n;
}

static void all_leaves_have_answered(void)
{
	struct delivery_again again;

	open_scope(READ_STREAM);
	put_folded(0, 8, 1, 60);
	CU_ASSERT_EQUAL(take(1, false), 60);
	CU_ASSERT_EQUAL(owing(1), 0);
	CU_ASSERT_FALSE(delivery_owed(delivery));
	/* leaf 2 is not in it: it alone is asked again, and answers for itself */
	put_folded(1, 1, 2, 10);
	put_folded(3, 5, 2, 40);
	CU_ASSERT_EQUAL(take(2, false), 50);
	CU_ASSERT(owing(2) == 1 && owes(2, 2));
	CU_ASSERT_TRUE(delivery_again(delivery, 32, &again));
	CU_ASSERT(again.wave == 2 && again.n == 1 && again.leaves[0] == 2);
	put_plain(2, 2, 7);
	CU_ASSERT_EQUAL(take(2, true), 7);
	CU_ASSERT_EQUAL(owing(2), 0);
	close_scope();
}

/* A late answer of a whole part of the tree serves who is asked again, but for leaves that somebody
 * else has brought meanwhile. */
static void late_ones(void)
{
	open_scope(READ_STREAM);
	put_folded(1, 3, 1, 30);
	CU_ASSERT_EQUAL(take(1, false), 30);
	CU_ASSERT_EQUAL(owing(1), 3);
	put_folded(5, 3, 1, 33);
	CU_ASSERT_EQUAL(take(1, true), 33);
	CU_ASSERT_EQUAL(owing(1), 0);
	put_folded(5, 3, 1, 33);
	CU_ASSERT_EQUAL(take(1, true), 0);
	/* wave 2: 6 has come by a stand-in; the rest stays owed, and comes by name */
	put_folded(1, 3, 2, 30);
	take(2, false);
	put_plain(6, 2, 5);
	CU_ASSERT_EQUAL(take(2, true), 5);
	put_folded(5, 3, 2, 33);
	CU_ASSERT_EQUAL(take(2, true), 0);
	CU_ASSERT(owes(5, 2) && !owes(6, 2) && owes(7, 2));
	put_plain(5, 2, 11);
	put_plain(7, 2, 17);
	CU_ASSERT_EQUAL(take(2, true), 28);
	CU_ASSERT_EQUAL(owing(2), 0);
	close_scope();
}

/* Whoever would count twice is dropped whole. */
static void overlapping_ones(void)
{
	open_scope(READ_STREAM);
	put_folded(1, 3, 1, 30);
	put_folded(3, 3, 1, 30);
	CU_ASSERT_EQUAL(take(1, false), 30);
	CU_ASSERT(!owes(3, 1) && owes(5, 1));
	put_plain(2, 2, 3);
	put_folded(1, 3, 2, 30);
	CU_ASSERT_EQUAL(take(2, false), 3);
	CU_ASSERT(owes(1, 2) && !owes(2, 2) && owes(3, 2));
	/* of leaves that are none of the scope's */
	put_folded(4, 1, 3, 5);
	put_folded(8, 500, 3, 5);
	CU_ASSERT_EQUAL(take(3, false), 0);
	CU_ASSERT_EQUAL(owing(3), 6);
	close_scope();
	open_scope(READ_LATEST);
	put_folded(1, 3, 1, 30);
	put_folded(3, 3, 1, 30);
	put_plain(7, 1, 2);
	CU_ASSERT_EQUAL(take(1, false), 32);
	close_scope();
}

static void older_waves_go_first(void)
{
	open_scope(READ_STREAM);
	put_folded(1, 3, 1, 0);
	take(1, false);
	put_folded(1, 3, 2, 0);
	CU_ASSERT_FALSE(delivery_is_early(delivery, &batch));
	put_folded(5, 3, 2, 0);
	CU_ASSERT_TRUE(delivery_is_early(delivery, &batch));
	close_scope();
}

static void the_worst_are_named(void)
{
	struct leaf_worst *worst;

	open_scope(READ_LATEST);
	put_plain(7, 1, 0);
	((struct part *)(void *)(batch.own->data + sizeof(struct run)))->unreadable = 4;
	CU_ASSERT_EQUAL(take(1, false), 0);
	CU_ASSERT_EQUAL(delivery_unreadable(delivery), 4);
	put_folded(1, 7, 2, 0)->unreadable = 12;
	batch_trim(&batch, 0);
	worst = batch_add(&batch, RUN_WORST, 0, 2, 2, 0);
	worst[0] = (struct leaf_worst){6, 3, LEAF_UNREADABLE};
	worst[1] = (struct leaf_worst){9, 2, LEAF_LOST};
	take(2, false);
	CU_ASSERT_EQUAL(delivery_unreadable(delivery), 12);
	CU_ASSERT_EQUAL(delivery_leaf_at(delivery, 3)->unreadable, 6);
	CU_ASSERT_EQUAL(delivery_leaf_at(delivery, 7)->unreadable, 0);
	CU_ASSERT_EQUAL(delivery_leaf_at(delivery, 2)->sums.lost, 9);
	put_folded(1, 7, 3, 0);
	take(3, false);
	CU_ASSERT_EQUAL(delivery_unreadable(delivery), 0);
	close_scope();
}

/* ---- any order ---- */

#define WAVES 40u

/* What leaves read for a wave is the same however often it is asked for. */
static uint64_t reads(uint32_t leaf, uint64_t wave)
{
	return 1 + (leaf * 7 + wave * 31) % 97;
}

static uint64_t folded_reads(uint32_t from, uint32_t count, uint64_t wave)
{
	uint64_t n = 0;

	for (uint32_t i = from; i < from + count; i++)
		n += i != 4 ? reads(i, wave) : 0;
	return n;
}

/* Part of a wave's leaves, folded or not, some of them twice. */
static void put_some(uint64_t *seed, uint64_t wave)
{
	uint32_t at = 1, n;

	for (; at <= 7; at += n) {
		n = 1 + (uint32_t)random_below(seed, 8 - at);
		if (random_below(seed, 3) == 0)
			continue;
		if (n > 1 && random_below(seed, 2))
			put_folded(at, n, wave, folded_reads(at, n, wave));
		else if (at != 4)
			put_plain(at, wave, reads(at, wave));
		if (random_below(seed, 6) == 0)
			at -= at > 1;
	}
}

static void each_counts_once(void)
{
	for (uint64_t round = 1; round <= 200; round++) {
		uint64_t seed = round, all = 0, got = 0;
		struct delivery_again again;

		open_scope(READ_STREAM);
		for (uint64_t wave = 1; wave <= WAVES; wave++) {
			put_some(&seed, wave);
			got += take(wave, false);
			all += folded_reads(1, 7, wave);
			if (random_below(&seed, 2)) {
				uint64_t old = 1 + random_below(&seed, wave);

				put_some(&seed, old);
				got += take(old, true);
			}
		}
		while (delivery_again(delivery, 1, &again)) {
			for (size_t i = 0; i < again.n; i++)
				put_plain(again.leaves[i], again.wave,
					  reads(again.leaves[i], again.wave));
			got += take(again.wave, true);
		}
		CU_ASSERT_FALSE(delivery_owed(delivery));
		CU_ASSERT_EQUAL(got, all);
		close_scope();
	}
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"all leaves of a folded part have answered", all_leaves_have_answered},
		{"late ones come once", late_ones},
		{"overlapping ones do not count twice", overlapping_ones},
		{"older waves go first", older_waves_go_first},
		{"the worst are named", the_worst_are_named},
		{"each counts once, in any order", each_counts_once},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "folded parts", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
