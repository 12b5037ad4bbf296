/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a hop whose child answers with folded parts, for its own leaves and for others. */
#include "tree/scope/hop.h"

#include <string.h>

#include "tests/hop-sayer.h"
#include "tests/tap.h"

#define RANGES 2

/* Say @n parts of these places; each with at most RANGES ranges, up to one without places. */
static void say(const struct leaf_range (*parts)[RANGES], size_t n, unsigned leaves)
{
	batch_clear(&hop_sayer_body);
	for (size_t i = 0; i < n; i++) {
		unsigned ranges = parts[i][1].count ? 2 : 1;

		memset(batch_add(&hop_sayer_body, RUN_PART, 3, 1, 1, 0), 0, sizeof(struct part));
		hop_sayer_body.last->flags |= RUN_MANY;
		memcpy(batch_add(&hop_sayer_body, RUN_LEAVES, 3, 1, ranges, 0), parts[i],
		       ranges * sizeof(struct leaf_range));
	}
	hop_sayer_said.leaves = leaves;
}

static void open_bed(struct hop_bed *bed, bool folds)
{
	hop_sayer_prepare(bed);
	bed->scope.folds = folds;
	hop_sayer_begin(bed);
}

/* Its places are 3 to 7; leaves are 4, 5 and 7. */
static void of_its_own_leaves(void)
{
	static const struct {
		struct leaf_range parts[2][RANGES];
		size_t n;
		unsigned leaves;
		const char *why;
	} cases[] = {
		{{{{4, 2}, {7, 1}}}, 1, 3, NULL},
		{{{{4, 4}}}, 1, 3, NULL},
		{{{{3, 5}}}, 1, 3, NULL},
		{{{{6, 1}}}, 1, 0, NULL},
		{{{{4, 1}}, {{5, 3}}}, 2, 3, NULL},
		{{{{4, 5}}}, 1, 3, "leaf 4, which is not below it"},
		{{{{2, 3}}}, 1, 1, "leaf 2, which is not below it"},
		{{{{4, 1}, {9, 1}}}, 1, 1, "leaf 9, which is not below it"},
		{{{{4, 1}, {6, NAME_PLACE_MAX - 5}}}, 1, 2, "leaf 6, which is not below it"},
		{{{{3 + PLAN_PLACES, 1}}}, 1, 0, "which is not below it"},
		{{{{4, 2}}, {{5, 3}}}, 2, 3, "speaks for leaf 5 twice"},
		{{{{4, 4}}}, 1, 2, "has 2 leaves, but parts of 3"},
	};
	struct hop_bed bed;

	open_bed(&bed, true);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *why;

		say(cases[i].parts, cases[i].n, cases[i].leaves);
		why = hop_sayer_asked(&bed);
		CU_ASSERT_EQUAL(why == NULL, cases[i].why == NULL);
		CU_ASSERT(!why || !cases[i].why || strstr(why, cases[i].why));
		if (!why)
			CU_ASSERT_EQUAL(hop_sayer_done.leaves, cases[i].leaves);
	}
	hop_sayer_close(&bed);
}

static void beside_others(void)
{
	static const struct leaf_range all[1][RANGES] = {{{4, 4}}};
	Evspace__Missing missing = EVSPACE__MISSING__INIT, *list = &missing;
	struct hop_bed bed;
	const char *why;

	open_bed(&bed, true);
	say(all, 1, 2);
	missing.leaf = 7;
	missing.why = MISSING_LATE;
	hop_sayer_said.missing = &list;
	hop_sayer_said.n_missing = 1;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "speaks for leaf 7 twice"));
	hop_sayer_said.n_missing = 0;
	say(all, 1, 3);
	memset(batch_add(&hop_sayer_body, RUN_PART, 5, 1, 1, 0), 0, sizeof(struct part));
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "speaks for leaf 5 twice"));
	/* a mark joins it with others, and not with more than there are */
	say(all, 1, 3);
	*(struct part *)batch_add(&hop_sayer_body, RUN_PART, 3, 1, 1, 0) =
		(struct part){.elements = 1};
	hop_sayer_body.last->flags |= RUN_FOLD;
	CU_ASSERT_PTR_NULL(hop_sayer_asked(&bed));
	say(all, 1, 3);
	*(struct part *)batch_add(&hop_sayer_body, RUN_PART, 3, 1, 1, 0) =
		(struct part){.elements = 2};
	hop_sayer_body.last->flags |= RUN_FOLD;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "a mark over 2 parts behind 1"));
	/* nor does what it has dropped overflow in a sum with others */
	say(all, 1, 3);
	*(struct part *)batch_add(&hop_sayer_body, RUN_PART, 3, 1, 1, 0) =
		(struct part){.elements = 1, .filtered = UINT64_MAX};
	hop_sayer_body.last->flags |= RUN_FOLD;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "more than can be"));
	say(all, 1, 3);
	hop_sayer_off = 1;
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "has a part of wave"));
	hop_sayer_off = 0;
	hop_sayer_close(&bed);
}

static void nobody_asked(void)
{
	static const struct leaf_range all[1][RANGES] = {{{4, 4}}};
	struct hop_bed bed;
	const char *why;

	open_bed(&bed, false);
	say(all, 1, 3);
	why = hop_sayer_asked(&bed);
	CU_ASSERT(why && strstr(why, "a folded part, which nobody asked for"));
	hop_sayer_close(&bed);
}

/* What it has brought is taken out again: its other leaves are missing, each once, and it is named.
 */
static void taken_out_again(void)
{
	struct wave w = {.number = 1};
	struct hop_bed bed;

	open_bed(&bed, false);
	wave_miss(&w, 5, MISSING_LATE, 0, "it sleeps");
	wave_miss(&w, 9, MISSING_LATE, 0, NULL);
	hop_displaced(bed.hop, &w, "it is too much");
	CU_ASSERT_EQUAL_FATAL(w.n_missing, 4);
	CU_ASSERT_EQUAL(w.missing[0].why, MISSING_LATE);
	CU_ASSERT_EQUAL(w.missing[2].leaf, 4);
	CU_ASSERT_EQUAL(w.missing[3].leaf, 7);
	for (size_t i = 2; i < 4; i++) {
		CU_ASSERT_EQUAL(w.missing[i].why, MISSING_REFUSED);
		CU_ASSERT_STRING_EQUAL(w.missing[i].text, "w0 above it: it is too much");
	}
	free(w.missing[0].text);
	free(w.missing[2].text);
	free(w.missing);
	hop_sayer_close(&bed);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"folded parts are of its own leaves", of_its_own_leaves},
		{"nor does it speak twice for them", beside_others},
		{"only who takes them gets them", nobody_asked},
		{"what is taken out of a wave again is missing", taken_out_again},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "folded answers to hops",
		 .pInitFunc = peers_init,
		 .pCleanupFunc = peers_fini,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
