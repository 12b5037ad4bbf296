/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a gather does with an input that brings too much: it alone is left out. */
#include "tests/gather-bed.h"
#include "tests/tap.h"

#include <stdio.h>
#include <string.h>

#include "tree/data/columns-batch.h"
#include "tree/data/columns.h"
#include "tree/scope/quota.h"

/* Who the inputs are, in all views. */
static const char bringers[INPUTS];

/* The input whose part was taken out of a wave again, and why. */
static struct {
	unsigned times;
	size_t input;
	uint64_t wave;
	char why[300];
} displaced;

static void on_displaced(void *arg, struct wave *w, const struct brought *what, const char *why)
{
	(void)arg;
	displaced.times++;
	displaced.input = what->input;
	displaced.wave = w->number;
	snprintf(displaced.why, sizeof(displaced.why), "%s", why);
	wave_miss(w, (uint32_t)what->input, MISSING_REFUSED, w->asked_ns, why);
}

static void on_late(void *arg, struct wave *w, size_t input)
{
	(void)arg;
	wave_miss(w, (uint32_t)input, MISSING_LATE, w->asked_ns, NULL);
}

static void on_done(void *arg, struct wave *w)
{
	(void)arg;
	(void)w;
}

static const struct gather_events events = {
	.late = on_late,
	.displaced = on_displaced,
	.done = on_done,
};

static void begin_case(void)
{
	memset(&displaced, 0, sizeof(displaced));
	gather_bed_begin(&events);
}

/* A part of @tuples tuples, which are all alike: as columns they are next to nothing. */
static void part_of(struct batch *body, uint32_t element, size_t tuples)
{
	batch_init(body);
	memset(batch_add(body, RUN_PART, element, 1, 1, 0), 0, sizeof(struct part));
	while (tuples > 0) {
		uint32_t n = tuples < UINT16_MAX ? (uint32_t)tuples : UINT16_MAX;

		memset(batch_add(body, RUN_TUPLES, element, 0, n, 0), 0, n * sizeof(struct tuple));
		tuples -= n;
	}
	columns_batch_pack(body);
}

/* The input brings its part of wave @number. Returns what is said against it; NULL: nothing. */
static const char *brings(uint64_t number, size_t input, size_t tuples)
{
	struct wave *w = gather_waiting(gather, number, false, input, 1);
	const struct brought what = {.by = &bringers[input], .input = input, .leaves = 1};
	static struct error e;
	struct batch body;
	int rc;

	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	part_of(&body, (uint32_t)input, tuples);
	rc = gather_bring(gather, w, &what, &body, &e);
	batch_fini(&body);
	if (rc == 0)
		w->leaves++;
	else
		wave_miss(w, (uint32_t)input, MISSING_REFUSED, w->asked_ns, e.text);
	return rc < 0 ? e.text : NULL;
}

/* Is the wave whole but for @without, whose leaf is missing? */
static void is_whole_without(const struct wave *w, size_t without, const char *why)
{
	struct batch_cursor c = {0};
	struct run_view run;
	unsigned parts = 0;
	size_t plain = 0;

	CU_ASSERT_EQUAL(w->leaves, INPUTS - 1);
	CU_ASSERT_EQUAL_FATAL(w->n_missing, 1);
	CU_ASSERT_EQUAL(w->missing[0].leaf, without);
	CU_ASSERT_EQUAL(w->missing[0].why, MISSING_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(w->missing[0].text, why));
	CU_ASSERT(w->batch.plain <= GATHER_PLAIN_MOST);
	while (batch_next_packed(&w->batch, &c, &run)) {
		CU_ASSERT_NOT_EQUAL(run.run->element, without);
		parts += run.run->kind == RUN_PART;
		plain += run.run->kind == RUN_COLUMNS ? columns_plain(run.run, run.records)
						      : run.bytes;
	}
	CU_ASSERT_EQUAL(parts, INPUTS - 1);
	CU_ASSERT_EQUAL(plain, w->batch.plain);
	CU_ASSERT_EQUAL(w->held, w->batch.plain);
}

/* Whenever it comes: those that bring what all may bring are in the wave. */
static void who_brings_most_is_left_out(void)
{
	static const size_t orders[][INPUTS] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
	const size_t much = (GATHER_PLAIN_MOST >> 6) / sizeof(struct tuple);
	const size_t little = GATHER_PLAIN_MOST / 50 / sizeof(struct tuple);

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct wave *w;
		const char *why;

		begin_case();
		w = ask(1, 60000);
		for (size_t k = 0; k < INPUTS; k++) {
			why = brings(1, orders[i][k], orders[i][k] == 1 ? 62 * much : little);
			CU_ASSERT(!why || orders[i][k] == 1);
		}
		CU_ASSERT_EQUAL(displaced.times, i < 2);
		CU_ASSERT(displaced.times == 0 || displaced.input == 1);
		is_whole_without(w, 1, "more than any other");
		end_case();
	}
}

/* What one holds in many waves does not shut out the others of the same consumer. */
static void nor_does_it_take_all_that_is_held(void)
{
	const size_t much = 40 * (1u << 20) / sizeof(struct tuple);
	struct quota *quota = quota_join("ann");
	const char *why = NULL;

	begin_case();
	gather_quota_set(gather, quota);
	for (uint64_t wave = 1; wave <= 5; wave++)
		ask(wave, 60000);
	for (uint64_t wave = 1; wave <= 5; wave++)
		why = brings(wave, 1, much);
	CU_ASSERT(why && strstr(why, "hold 160 MiB for ann"));
	CU_ASSERT_EQUAL(displaced.times, 0);
	CU_ASSERT_EQUAL(quota_take(quota, QUOTA_KIND / 2 - (161u << 20), &(struct error){""}), 0);
	for (uint64_t wave = 1; wave <= 5; wave++)
		CU_ASSERT_PTR_NULL(brings(wave, 0, 60000));
	CU_ASSERT_EQUAL(displaced.times, 1);
	CU_ASSERT_EQUAL(displaced.input, 1);
	quota_give(quota, QUOTA_WAVES, QUOTA_KIND / 2 - (161u << 20));
	end_case();
	/* all was given back */
	CU_ASSERT_EQUAL(quota_take(quota, QUOTA_KIND / 2, &(struct error){""}), 0);
	quota_give(quota, QUOTA_WAVES, QUOTA_KIND / 2);
	quota_leave(quota);
}

/* What others hold. @share: of what there is for all. */
struct others {
	const char *name;
	size_t share;
	struct quota *quota;
};

/* In how many waves of two views, and in how small parts, one holds all that is left: who holds far
 * less in all does not give way. */
static void nor_in_other_views(size_t part, size_t others_part, struct others *others, size_t n)
{
	struct quota *quota = quota_join("ann");
	struct gather *first;
	const char *why = NULL;

	begin_case();
	for (size_t i = 0; i < n; i++) {
		others[i].quota = quota_join(others[i].name);
		CU_ASSERT_EQUAL(quota_take(others[i].quota, others[i].share, &(struct error){""}),
				0);
	}
	first = gather;
	gather_quota_set(first, quota);
	for (uint64_t wave = 1; wave <= GATHER_WINDOW; wave++) {
		ask(wave, 60000);
		why = brings(wave, 1, part / sizeof(struct tuple));
	}
	CU_ASSERT(why && strstr(why, "for ann"));
	gather = gather_new(base, INPUTS, &events, NULL);
	gather_quota_set(gather, quota);
	ask(1, 60000);
	CU_ASSERT_PTR_NOT_NULL(brings(1, 1, part / sizeof(struct tuple)));
	CU_ASSERT_EQUAL(displaced.times, 0);
	for (uint64_t wave = 2; wave <= 9; wave++) {
		ask(wave, 60000);
		CU_ASSERT_PTR_NULL(
			brings(wave, wave % 2 ? 0 : 2, others_part / sizeof(struct tuple)));
		CU_ASSERT(displaced.times == 0 || displaced.input == 1);
	}
	CU_ASSERT(displaced.times > 4 * others_part / part);
	gather_free(first);
	end_case();
	for (size_t i = 0; i < n; i++) {
		quota_give(others[i].quota, QUOTA_WAVES, others[i].share);
		quota_leave(others[i].quota);
	}
	/* all was given back */
	CU_ASSERT_EQUAL(quota_take(quota, QUOTA_KIND / 2, &(struct error){""}), 0);
	quota_give(quota, QUOTA_WAVES, QUOTA_KIND / 2);
	quota_leave(quota);
}

static void nor_in_other_views_of_the_consumer(void)
{
	nor_in_other_views(5 << 20, 5 << 20, NULL, 0);
	nor_in_other_views(5 << 20, 1 << 20, NULL, 0);
}

/* 48 of these are all that is left. */
static void nor_in_small_parts(void)
{
	struct others others[] = {{"bob", QUOTA_KIND / 3, NULL},
				  {"eve", QUOTA_KIND / 3, NULL},
				  {"joe", QUOTA_KIND / 12, NULL}};

	nor_in_other_views(QUOTA_LITTLE - 1000, QUOTA_LITTLE / 10, others, 3);
	nor_in_other_views(QUOTA_LITTLE - 1000, QUOTA_LITTLE / 2 * 3, others, 3);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"who brings too much is left out, and the others are not",
		 who_brings_most_is_left_out},
		{"... nor do many waves of it shut out others", nor_does_it_take_all_that_is_held},
		{"... nor those of other views", nor_in_other_views_of_the_consumer},
		{"... nor many small parts", nor_in_small_parts},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "brought", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
