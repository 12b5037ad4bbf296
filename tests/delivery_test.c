/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the client's accounts: spans against a model, parts that come twice or mixed. */
#include "consumers/client/delivery.h"

#include <stdlib.h>
#include <string.h>

#include "tests/delivery-scope.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tree/data/names.h"

#define MS 1000000ull

/* ---- spans ---- */

#define NUMBERS 200

static bool interval_set_are(const struct interval_set *s, const bool *model)
{
	for (size_t i = 0; i + 1 < s->n; i++) {
		if (s->items[i].from >= s->items[i].to || s->items[i].to >= s->items[i + 1].from)
			return false;
	}
	for (uint64_t n = 0; n < NUMBERS; n++) {
		if (interval_set_have(s, n) != model[n])
			return false;
	}
	return true;
}

static void interval_set_are_sets(void)
{
	uint64_t seed = 7, from, to, removed;
	bool model[NUMBERS] = {false}, same = true;
	struct interval_set s = {0};

	for (unsigned step = 0; step < 20000 && same; step++) {
		from = random_below(&seed, NUMBERS);
		to = from + random_below(&seed, 12);
		to = to > NUMBERS ? NUMBERS : to;
		if (random_below(&seed, 2)) {
			interval_set_add(&s, from, to);
			for (uint64_t n = from; n < to; n++)
				model[n] = true;
		} else {
			removed = 0;
			for (uint64_t n = from; n < to; n++) {
				removed += model[n];
				model[n] = false;
			}
			same = interval_set_remove(&s, from, to) == removed;
		}
		same = same && interval_set_are(&s, model);
	}
	CU_ASSERT_TRUE(same);
	interval_set_fini(&s);
}

static void interval_sets_are_texts(void)
{
	static const struct {
		const char *read, *written;
	} cases[] = {
		{"", ""},      {"7", "7"},	   {"0-3,7", "0-3,7"}, {"0,1,2-4,6-7", "0-4,6-7"},
		{"1-,4", "4"}, {"5-3,9", "9"},	   {"3,x", "3"},       {"all", ""},
		{"8,2", "8"},  {"0-3,2-5", "0-3"}, {"-4", ""},	       {"18446744073709551615", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct interval_set s = {0};
		char *text;

		interval_set_read(&s, cases[i].read);
		text = interval_set_text(&s);
		CU_ASSERT_STRING_EQUAL(text, cases[i].written);
		free(text);
		interval_set_fini(&s);
	}
}

/* ---- the delivery account ---- */

static struct delivery *delivery;
static struct batch batch;
static struct delivery_sums sums;
static Evspace__Missing missing[4], *missing_list[4];
static size_t n_missing;

/* A scope of leaves 1 to 3. */
static void open_scope(enum reading reading)
{
	if (!delivery) {
		delivery = delivery_new();
		batch_init(&batch);
	}
	delivery_scope(delivery, reading, 3);
	n_missing = 0;
}

static void close_scope(void)
{
	delivery_free(delivery);
	batch_fini(&batch);
	delivery = NULL;
}

static struct part *put_part(uint32_t leaf, uint64_t wave, uint64_t read)
{
	struct part *p = batch_add(&batch, RUN_PART, leaf, wave, 1, 0);

	*p = (struct part){.clock = CLOCK_LINE_NS, .read = read};
	return p;
}

static void put_mark(uint32_t parts)
{
	struct part *p = put_part(0, 1, 0);

	p->elements = parts;
	batch.last->flags |= RUN_FOLD;
}

static void put_tuples(uint32_t leaf, uint64_t first, uint32_t n, uint64_t lost)
{
	memset(batch_add(&batch, RUN_TUPLES, name_id(leaf, 0), first, n, lost), 0,
	       n * sizeof(struct tuple));
}

static void miss(uint32_t leaf, unsigned why, uint64_t since_ms)
{
	evspace__missing__init(&missing[n_missing]);
	missing[n_missing].leaf = leaf;
	missing[n_missing].why = why;
	missing[n_missing].since_ms = since_ms;
	missing_list[n_missing] = &missing[n_missing];
	n_missing++;
}

/* Asked for at 1000 ms, answered at 1500 ms. Returns how many tuples are left in the batch. */
static size_t take(uint64_t wave, bool again)
{
	static const struct delivery_times times = {1000 * MS, 1500 * MS};
	Evspace__Answer a = EVSPACE__ANSWER__INIT;
	struct batch_cursor cursor = {0};
	struct run_view view;
	size_t tuples = 0;

	a.wave = wave;
	a.again = again;
	a.missing = missing_list;
	a.n_missing = n_missing;
	delivery_take(delivery, &a, &times, &batch, &sums);
	while (batch_next(&batch, &cursor, &view))
		tuples += view.run->kind == RUN_TUPLES ? view.run->count : 0;
	batch_clear(&batch);
	n_missing = 0;
	CU_ASSERT_EQUAL(tuples, sums.tuples);
	CU_ASSERT_EQUAL(sums.unaccounted, 0);
	return tuples;
}

static bool owes(uint32_t leaf, uint64_t wave)
{
	return interval_set_have(&delivery_leaf_at(delivery, leaf)->owed, wave);
}

static void who_is_missing_owes(void)
{
	struct delivery_again again;
	Evspace__Owing owing[3];

	open_scope(READ_STREAM);
	put_part(1, 1, 5);
	put_tuples(1, 0, 5, 0);
	miss(2, MISSING_LATE, 0);
	miss(3, MISSING_UNREACHABLE, 200);
	CU_ASSERT_EQUAL(take(1, false), 5);
	CU_ASSERT_TRUE(!owes(1, 1) && owes(2, 1) && owes(3, 1));
	/* one that was away before it was asked has nothing of the wave */
	put_part(1, 2, 0);
	miss(2, MISSING_LATE, 0);
	miss(3, MISSING_UNREACHABLE, 700);
	CU_ASSERT_EQUAL(take(2, false), 0);
	CU_ASSERT_TRUE(owes(2, 2) && !owes(3, 2));
	CU_ASSERT_EQUAL(delivery_owing(delivery, owing), 2);
	CU_ASSERT_EQUAL(owing[0].leaf, 2);
	CU_ASSERT_EQUAL(owing[0].wave, 1);
	/* the late one is asked for both waves, the other when it is back */
	CU_ASSERT_TRUE(delivery_again(delivery, 32, &again));
	CU_ASSERT_EQUAL(again.wave, 1);
	CU_ASSERT_EQUAL(again.count, 2);
	CU_ASSERT_EQUAL(again.n, 1);
	CU_ASSERT_EQUAL(again.leaves[0], 2);
	put_part(2, 1, 3);
	put_tuples(2, 0, 3, 0);
	CU_ASSERT_EQUAL(take(1, true), 3);
	/* late twice: not before it was seen */
	miss(2, MISSING_LATE, 0);
	CU_ASSERT_EQUAL(take(2, true), 0);
	CU_ASSERT_FALSE(delivery_again(delivery, 32, &again));
	close_scope();
}

static void those_that_owe_the_same_are_asked_together(void)
{
	struct delivery_again again;

	open_scope(READ_STREAM);
	for (uint64_t wave = 1; wave <= 40; wave++) {
		put_part(1, wave, 0);
		miss(2, MISSING_LATE, 0);
		if (wave > 10)
			miss(3, MISSING_LATE, 0);
		else
			put_part(3, wave, 0);
		take(wave, false);
	}
	CU_ASSERT_TRUE(delivery_again(delivery, 32, &again));
	CU_ASSERT_TRUE(again.wave == 1 && again.count == 10 && again.n == 1);
	for (uint64_t wave = 1; wave <= 10; wave++) {
		put_part(2, wave, 0);
		take(wave, true);
	}
	CU_ASSERT_TRUE(delivery_again(delivery, 16, &again));
	CU_ASSERT_TRUE(again.wave == 11 && again.count == 16 && again.n == 2);
	close_scope();
}

static void what_comes_twice_is_dropped(void)
{
	open_scope(READ_STREAM);
	for (uint32_t leaf = 1; leaf <= 3; leaf++)
		put_part(leaf, 1, 0);
	take(1, false);
	/* wave 1 of leaf 2 once more, and wave 2 of leaf 1 twice */
	put_part(1, 2, 4);
	put_tuples(1, 0, 4, 0);
	put_part(2, 1, 9);
	put_tuples(2, 0, 9, 0);
	put_part(1, 2, 4);
	put_tuples(1, 0, 4, 0);
	put_part(3, 2, 2);
	put_tuples(3, 0, 2, 0);
	CU_ASSERT_EQUAL(take(2, false), 6);
	CU_ASSERT_EQUAL(sums.read, 6);
	CU_ASSERT_TRUE(owes(2, 2));
	/* a leaf that is none of the scope's */
	put_part(9, 3, 1);
	put_tuples(9, 0, 1, 0);
	CU_ASSERT_EQUAL(take(3, false), 0);
	close_scope();
}

/* Who has lost its cursors begins again with what it still holds. */
static void numbers_that_came_are_dropped(void)
{
	struct part *p;

	open_scope(READ_STREAM);
	p = put_part(1, 1, 100);
	p->lost = 50;
	put_tuples(1, 50, 100, 50);
	CU_ASSERT_EQUAL(take(1, false), 100);
	CU_ASSERT_EQUAL(sums.lost, 50);
	p = put_part(1, 2, 60);
	p->lost = 120;
	put_tuples(1, 120, 60, 120);
	put_part(2, 2, 7);
	put_tuples(2, 0, 7, 0);
	CU_ASSERT_EQUAL(take(2, false), 37);
	CU_ASSERT_EQUAL(sums.lost, 0);
	CU_ASSERT_EQUAL(sums.read, 37);
	CU_ASSERT_EQUAL(sums.repeated, 30);
	CU_ASSERT_EQUAL(delivery_unaccounted(delivery), 0);
	put_part(2, 3, 1);
	put_tuples(2, 9, 1, 0);
	CU_ASSERT_EQUAL(take(3, false), 1);
	/* leaf 2 may have the two that are missing in wave 1 */
	CU_ASSERT_EQUAL(delivery_unaccounted(delivery), 0);
	put_part(2, 1, 0);
	take(1, true);
	CU_ASSERT_EQUAL(delivery_unaccounted(delivery), 2);
	close_scope();
}

static void what_is_mixed_is_taken_whole_or_not(void)
{
	open_scope(READ_STREAM);
	put_part(1, 1, 5)->reduced = 3;
	put_part(2, 1, 5);
	put_mark(2);
	put_tuples(1, 0, 7, 0);
	put_part(3, 1, 1);
	put_tuples(3, 0, 1, 0);
	CU_ASSERT_EQUAL(take(1, false), 8);
	/* leaf 2 is new, but mixed with what was there: it will be asked for alone */
	put_part(1, 1, 5);
	put_part(2, 2, 5);
	put_mark(2);
	put_tuples(1, 0, 10, 0);
	put_part(3, 2, 1);
	put_tuples(3, 1, 1, 0);
	CU_ASSERT_EQUAL(take(2, false), 1);
	CU_ASSERT_TRUE(owes(1, 2) && owes(2, 2) && !owes(3, 2));
	put_part(2, 2, 5);
	put_mark(1);
	put_tuples(1, 0, 5, 0);
	CU_ASSERT_EQUAL(take(2, true), 5);
	/* a mark of more parts than there are */
	put_part(1, 3, 5);
	put_mark(7);
	put_tuples(1, 0, 5, 0);
	CU_ASSERT_EQUAL(take(3, false), 0);
	close_scope();
}

/* A mark is of parts behind the last one: what says otherwise would be looked at again and again.
 */
static void a_part_has_one_mark(void)
{
	open_scope(READ_LATEST);
	put_part(1, 1, 5);
	put_mark(1);
	put_tuples(1, 0, 5, 0);
	put_mark(1);
	put_tuples(1, 5, 5, 0);
	CU_ASSERT_EQUAL(take(1, false), 5);
	close_scope();
}

static void older_waves_go_first(void)
{
	open_scope(READ_STREAM);
	put_part(1, 1, 0);
	put_part(2, 1, 0);
	miss(3, MISSING_LATE, 0);
	take(1, false);
	put_part(1, 2, 0);
	CU_ASSERT_FALSE(delivery_is_early(delivery, &batch));
	put_part(3, 2, 0);
	CU_ASSERT_TRUE(delivery_is_early(delivery, &batch));
	batch_clear(&batch);
	put_part(3, 1, 0);
	CU_ASSERT_FALSE(delivery_is_early(delivery, &batch));
	close_scope();
}

static void the_newest_owe_nothing(void)
{
	struct delivery_again again;

	open_scope(READ_LATEST);
	for (uint64_t wave = 1; wave <= 3; wave++) {
		put_part(1, wave, 1);
		put_tuples(1, 5, 1, 0);
		put_part(1, wave, 1);
		put_tuples(1, 5, 1, 0);
		miss(2, MISSING_LATE, 0);
		CU_ASSERT_EQUAL(take(wave, false), 1);
	}
	CU_ASSERT_FALSE(delivery_again(delivery, 32, &again));
	CU_ASSERT_EQUAL(delivery_unaccounted(delivery), 0);
	close_scope();
}

static void a_scope_may_come_back_changed(void)
{
	Evspace__Leaf leaf = EVSPACE__LEAF__INIT, *list[] = {&leaf};
	Evspace__Opened o = EVSPACE__OPENED__INIT;

	open_scope(READ_STREAM);
	put_part(1, 1, 5);
	put_tuples(1, 0, 5, 0);
	miss(2, MISSING_LATE, 0);
	take(1, false);
	o.reading = READ_STREAM;
	o.leaves = list;
	o.n_leaves = 1;
	leaf.index = 7;
	leaf.name = (char *)(uintptr_t) "/c/n2";
	delivery_open(delivery, &o, true);
	CU_ASSERT_EQUAL(delivery_leaves(delivery), 1);
	CU_ASSERT_PTR_NULL(delivery_leaf_at(delivery, 2));
	CU_ASSERT_TRUE(owes(7, 1));
	open_scope(READ_STREAM);
	CU_ASSERT_EQUAL(delivery_leaves(delivery), 3);
	CU_ASSERT_EQUAL(delivery_leaf_at(delivery, 1)->sums.read, 5);
	close_scope();
}

int main(void)
{
	static CU_TestInfo numbers[] = {
		{"spans are sets", interval_set_are_sets},
		{"spans are texts, and are read again", interval_sets_are_texts},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo deliveries[] = {
		{"who is missing owes", who_is_missing_owes},
		{"those that owe the same are asked together",
		 those_that_owe_the_same_are_asked_together},
		{"what comes twice is dropped", what_comes_twice_is_dropped},
		{"numbers that came are dropped", numbers_that_came_are_dropped},
		{"what is mixed is taken whole, or not", what_is_mixed_is_taken_whole_or_not},
		{"a part has one mark", a_part_has_one_mark},
		{"older waves go first", older_waves_go_first},
		{"the newest owe nothing", the_newest_owe_nothing},
		{"a scope may come back changed", a_scope_may_come_back_changed},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "numbers", .pTests = numbers},
		{.pName = "ledger", .pTests = deliveries},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
