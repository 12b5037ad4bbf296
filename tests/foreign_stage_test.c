/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests stages of others: any tree gives what the flat one gives, all is accounted for, and what
 * they do wrong is found. */
#include "tree/stage/foreign-stage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random-trees.h"
#include "tests/random.h"
#include "tests/tap.h"

#define SUMS 512

/* ---- tables: what was taken by parity of the peer, and each peer's bytes ---- */

static int sums_init(struct evspace_stage *stage, const char *args, char *why, size_t n)
{
	if (strcmp(args, "refused") == 0) {
		snprintf(why, n, "not %s", args);
		return -1;
	}
	if (*args)
		stage->words = (unsigned)atoi(args);
	return 0;
}

static size_t sums_take(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	uint64_t *sums = stage->host->record(stage, 0);
	size_t taken = 0;

	for (size_t i = 0; i < run->count; i++) {
		if (run->tuples[i].flags & EVSPACE_STAGE_RUNNING)
			continue;
		sums[run->tuples[i].peer % 2]++;
		sums[2] += run->tuples[i].bytes;
		taken++;
	}
	return taken;
}

static int sums_sound(const struct evspace_stage *stage, const uint64_t *record)
{
	(void)stage;
	return record[2] < UINT32_MAX;
}

static void sums_merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
{
	for (unsigned i = 0; i < stage->words; i++)
		to[i] += from[i];
}

static const struct evspace_stage_table sums_table = {
	EVSPACE_STAGE_HEAD, .kind = "sums",    .words = 3,	    .own_bytes = 5,
	.init = sums_init,  .take = sums_take, .sound = sums_sound, .merge = sums_merge,
};

static size_t peers_take(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		stage->host->record(stage, (uint64_t)run->tuples[i].peer)[1] +=
			run->tuples[i].bytes;
	return run->count;
}

static void peers_merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
{
	(void)stage;
	to[1] += from[1];
}

static const struct evspace_stage_table peers_table = {
	EVSPACE_STAGE_HEAD, .kind = "peers",	.words = 2,
	.keyed = 1,	    .take = peers_take, .merge = peers_merge,
};

static struct foreign_stage_kind sums, peers;

static void kinds_make(void)
{
	struct error e;

	CU_ASSERT_EQUAL(foreign_stage_init(&sums, "sums.so", &sums_table, &e), 0);
	CU_ASSERT_EQUAL(foreign_stage_init(&peers, "peers.so", &peers_table, &e), 0);
}

/* ---- in trees ---- */

/* The records of an answer, in order, and its accounts. */
struct sum {
	char name[48];
	uint64_t words[3];
};

struct told {
	struct sum sums[SUMS];
	size_t n;
	uint64_t read, filtered, reduced;
};

static int sum_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct sum));
}

static void told_take(struct told *t, const struct place *p)
{
	struct batch_cursor c = {0};
	struct run_view view;

	memset(t, 0, sizeof(*t));
	while (batch_next(&p->batch, &c, &view)) {
		struct foreign_kind kind;
		unsigned n;

		if (view.run->kind == RUN_PART) {
			t->read += view.part->read;
			t->filtered += view.part->filtered;
			t->reduced += view.part->reduced;
			continue;
		}
		CU_ASSERT_EQUAL_FATAL(view.run->kind, RUN_FOREIGN);
		n = foreign_read(view.foreigns, view.run->count, &kind);
		CU_ASSERT(n > 0 && kind.words <= 3);
		for (unsigned i = 0; i < n; i++) {
			struct sum *sum = &t->sums[t->n++];

			CU_ASSERT_FATAL(t->n < SUMS);
			snprintf(sum->name, sizeof(sum->name), "%s",
				 names_find(p->names, view.run->element)->text);
			memcpy(sum->words, view.foreigns + FOREIGN_HEAD + i * kind.words,
			       kind.words * sizeof(uint64_t));
		}
	}
	qsort(t->sums, t->n, sizeof(t->sums[0]), sum_compare);
	CU_ASSERT_EQUAL(t->read, t->filtered + t->reduced);
}

static void alike(const struct stage_ops *ops, enum level level)
{
	static struct told flat_told, tree_told;
	size_t most = 0;

	for (uint64_t tree = 1; tree <= RANDOM_TREES_TREES; tree++) {
		struct place leaves[RANDOM_TREES_LEAVES], flat;

		grove_seed = tree * UINT64_C(1000003);
		place_init(&flat, RANDOM_TREES_LEAVES);
		for (uint32_t i = 0; i < RANDOM_TREES_LEAVES; i++) {
			place_init(&leaves[i], i);
			place_fill(&leaves[i], i, 0);
			place_copy(&flat, &leaves[i]);
		}
		place_apply(&flat, ops, level, "");
		random_trees_grow(leaves, RANDOM_TREES_LEAVES, ops, level, "");
		told_take(&flat_told, &flat);
		told_take(&tree_told, &leaves[0]);
		CU_ASSERT_EQUAL(memcmp(&flat_told, &tree_told, sizeof(flat_told)), 0);
		most = flat_told.n > most ? flat_told.n : most;
		place_fini(&flat);
		place_fini(&leaves[0]);
	}
	CU_ASSERT(most > 0);
}

static void records_in_any_tree(void)
{
	kinds_make();
	alike(&sums.ops, LEVEL_ALL);
	alike(&sums.ops, LEVEL_NODE);
	alike(&sums.ops, LEVEL_THREAD);
}

static void keyed_records_in_any_tree(void)
{
	kinds_make();
	alike(&peers.ops, LEVEL_ALL);
	alike(&peers.ops, LEVEL_CLUSTER);
}

/* ---- what they do wrong ---- */

static unsigned past;

static size_t writes_past(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	uint64_t *record = stage->host->record(stage, 0);

	if (past == 0)
		record[3] = 1;
	else if (past == 1)
		record[-1] = 1;
	else if (past == 2)
		((struct evspace_tuple *)(uintptr_t)run->tuples)[EVSPACE_STAGE_TUPLES].bytes = 1;
	else if (past == 3)
		((char *)stage->own)[8] = 1;
	else if (past == 4)
		return run->count + 1;
	if (past == 5)
		record[3] = 1;
	return run->count + (past == 5);
}

/* One wave of a leaf through a chain of one stage. Returns what chain_apply() does. */
static int wave(struct foreign_stage_kind *kind, const char **fault)
{
	struct ask ask = {.wave = RANDOM_TREES_WAVE};
	struct place p;
	struct stage *s;
	struct chain chain = {.stages = &s, .n = 1};
	int rc;

	grove_seed = 7;
	place_init(&p, 0);
	place_fill(&p, 0, 0);
	s = stage_new(&kind->ops, LEVEL_NODE, p.names, "", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	rc = chain_apply(&chain, &ask, &p.batch, 0);
	*fault = chain.failed ? chain.failed->fault : NULL;
	if (rc < 0)
		CU_ASSERT_EQUAL(chain_apply(&chain, &ask, &p.batch, 0), -1);
	stage_free(s);
	place_fini(&p);
	return rc;
}

static void writing_past_is_found(void)
{
	struct evspace_stage_table table = sums_table;
	struct foreign_stage_kind kind;
	struct names *names;
	const char *fault;
	struct error e;

	table.take = writes_past;
	for (past = 0; past <= 6; past++) {
		char told[200] = "";

		CU_ASSERT_EQUAL(foreign_stage_init(&kind, "past.so", &table, &e), 0);
		kind.told = fmemopen(told, sizeof(told), "w");
		CU_ASSERT_EQUAL(wave(&kind, &fault), past < 6 ? -1 : 0);
		fclose(kind.told);
		kind.told = NULL;
		/* who also says what cannot be has not only done that */
		CU_ASSERT_EQUAL(kind.broken, past != 4 && past != 6);
		CU_ASSERT_EQUAL(strstr(told, "past.so\" has written past") != NULL, kind.broken);
		CU_ASSERT(past > 5 || strstr(fault, kind.broken ? "written past what it was given"
								: "more tuples"));
		if (!kind.broken)
			continue;
		names = names_new(0);
		CU_ASSERT_PTR_NULL(stage_new(&kind.ops, LEVEL_NODE, names, "", &e));
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "has written past"));
		names_free(names);
	}
}

/* As many records as a wave may have, and one more. */
static size_t takes_much(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	for (uint64_t key = 0; key < 3000; key++)
		stage->host->record(stage, key)[1] = run->count;
	return run->count;
}

static void too_many_records(void)
{
	struct evspace_stage_table table = peers_table;
	struct foreign_stage_kind kind;
	const char *fault;

	table.take = takes_much;
	table.words = FOREIGN_WORDS;
	CU_ASSERT_EQUAL(foreign_stage_init(&kind, "much.so", &table, NULL), 0);
	CU_ASSERT_EQUAL(wave(&kind, &fault), -1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(fault);
	CU_ASSERT_PTR_NOT_NULL(strstr(fault, "64 MiB"));
	CU_ASSERT(!kind.broken);
}

/* Much memory for each of few bytes: what hosts below bring beyond that is passed on as it is. */
static void records_from_below_are_bounded(void)
{
	enum { KEYS = 900000, RUN = 30000 };
	const struct foreign_kind kind = {"peers", 2, true};
	struct batch_cursor c = {0};
	struct run_view view;
	struct foreign_kind read;
	struct place p;
	size_t records = 0;
	uint64_t sum = 0;

	kinds_make();
	grove_seed = 3;
	place_init(&p, 0);
	place_fill(&p, 0, 0);
	for (uint64_t key = 0; key < 2 * KEYS; key++) {
		static struct foreign *out;

		if (key % RUN == 0) {
			out = batch_add(&p.batch, RUN_FOREIGN, name_id(0, 0), 0,
					FOREIGN_HEAD + 2 * RUN, 0);
			foreign_head(out, &kind);
			out += FOREIGN_HEAD;
		}
		*out++ = (struct foreign){(UINT64_C(1) << 40) + key % KEYS};
		*out++ = (struct foreign){UINT64_C(1) << 40};
	}
	place_apply(&p, &peers.ops, LEVEL_ALL, "");
	while (batch_next(&p.batch, &c, &view)) {
		uint32_t n = view.run->kind == RUN_FOREIGN
				     ? foreign_read(view.foreigns, view.run->count, &read)
				     : 0;

		records += n;
		for (uint32_t i = 0; i < n; i++)
			sum += (view.foreigns + FOREIGN_HEAD)[2 * i + 1].word >> 40;
	}
	CU_ASSERT_EQUAL(sum, 2 * KEYS);
	CU_ASSERT(records > KEYS);
	place_fini(&p);
}

/* What there is within take() alone does no harm elsewhere. */
static int asks_early(struct evspace_stage *stage, const char *args, char *why, size_t n)
{
	int32_t rank;

	(void)args;
	(void)why;
	(void)n;
	memset(stage->host->record(stage, 1), 1, EVSPACE_STAGE_WORDS * sizeof(uint64_t));
	CU_ASSERT_STRING_EQUAL(stage->host->element(stage, &rank), "");
	return 0;
}

static void asks_within_merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
{
	for (uint64_t key = 0; key < 100; key++)
		stage->host->record(stage, key)[1] = 1;
	peers_merge(stage, to, from);
}

static void calls_at_other_times_do_no_harm(void)
{
	struct evspace_stage_table table = peers_table;
	struct foreign_stage_kind kind;

	kinds_make();
	table.init = asks_early;
	table.merge = asks_within_merge;
	CU_ASSERT_EQUAL(foreign_stage_init(&kind, "early.so", &table, NULL), 0);
	alike(&kind.ops, LEVEL_ALL);
}

static void bad_tables(void)
{
	static const struct {
		size_t at;
		uint64_t value;
		size_t bytes;
		const char *says;
	} all[] = {
#define WRONG(field, value, says) \
	{offsetof(struct evspace_stage_table, field), value, sizeof(sums_table.field), says}
		WRONG(interface, 2,
		      "is written for version 2 of evspace-stage.h, this agent for 1"),
		WRONG(bytes, 8, "has a table of 8 bytes"),
		WRONG(kind, 0, "names no kind of records"),
		WRONG(take, 0, "has no take()"),
		WRONG(merge, 0, "has no merge()"),
		WRONG(own_bytes, 1u << 30, "wants 1073741824 bytes of its own"),
	};
	struct foreign_stage_kind kind;
	struct error e;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct evspace_stage_table table = sums_table;

		memcpy((char *)&table + all[i].at, &all[i].value, all[i].bytes);
		errno = 0;
		CU_ASSERT_EQUAL(foreign_stage_init(&kind, "bad.so", &table, &e), -1);
		CU_ASSERT_EQUAL(errno, EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, all[i].says));
	}
}

static void arguments(void)
{
	struct error e;

	kinds_make();
	CU_ASSERT_PTR_NULL(stage_new(&sums.ops, LEVEL_NODE, NULL, "refused", &e));
	CU_ASSERT_STRING_EQUAL(e.text, "not refused");
	CU_ASSERT_PTR_NULL(stage_new(&sums.ops, LEVEL_NODE, NULL, "0", &e));
	CU_ASSERT_PTR_NULL(stage_new(&sums.ops, LEVEL_NODE, NULL, "4097", &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "1 to 4096"));
	stage_free(stage_new(&sums.ops, LEVEL_NODE, NULL, "4096", &e));
}

/* Records of another size, of another kind, and unsound ones are passed on. */
static void strange_records_are_kept(void)
{
	static const struct foreign_kind strange[] = {
		{"sums", 3, false}, {"sums", 4, false}, {"others", 3, false}, {"sums", 3, true}};
	struct batch_cursor c = {0};
	struct run_view view;
	struct place p;
	unsigned runs = 0;

	kinds_make();
	grove_seed = 3;
	place_init(&p, 0);
	place_fill(&p, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		struct foreign *out = batch_add(&p.batch, RUN_FOREIGN, name_id(0, 0), 0,
						FOREIGN_HEAD + strange[i].words, 0);

		foreign_head(out, &strange[i]);
		memset(out + FOREIGN_HEAD, 0xff, strange[i].words * sizeof(*out));
	}
	place_apply(&p, &sums.ops, LEVEL_ALL, "");
	while (batch_next(&p.batch, &c, &view))
		runs += view.run->kind == RUN_FOREIGN;
	CU_ASSERT_EQUAL(runs, 5);
	place_fini(&p);
}

/* ---- heads of runs ---- */

static void heads(void)
{
	const struct foreign_kind kind = {"a-kind-of-31-letters-and-digits", 7, true};
	struct foreign run[FOREIGN_HEAD + 14];
	struct foreign_kind read;

	CU_ASSERT_EQUAL(strlen(kind.name), FOREIGN_NAME - 1);
	memset(run, 0, sizeof(run));
	foreign_head(run, &kind);
	CU_ASSERT_EQUAL(foreign_read(run, FOREIGN_HEAD + 14, &read), 2);
	CU_ASSERT_STRING_EQUAL(read.name, kind.name);
	CU_ASSERT(read.words == kind.words && read.keyed);
	CU_ASSERT_EQUAL(foreign_read(run, FOREIGN_HEAD + 13, &read), 0);
	CU_ASSERT_EQUAL(foreign_read(run, FOREIGN_HEAD, &read), 0);
	CU_ASSERT_EQUAL(foreign_read(run, 1, &read), 0);
	for (unsigned i = 0; i < FOREIGN_HEAD; i++) {
		uint64_t right = run[i].word;

		run[i].word = i == 0 ? FOREIGN_WORDS + 1 : right | 0xff;
		CU_ASSERT_EQUAL(foreign_read(run, FOREIGN_HEAD + 14, &read), 0);
		run[i].word = 0;
		CU_ASSERT_EQUAL(foreign_read(run, FOREIGN_HEAD + 14, &read), i > 1 ? 2 : 0);
		run[i].word = right;
	}
	CU_ASSERT(foreign_name("a") && !foreign_name("") && !foreign_name("A") &&
		  !foreign_name("1a") && !foreign_name("a b"));
}

/* A stage that only other hosts have fits anywhere; one that is here does not. */
static void stages_of_other_hosts(void)
{
	const struct stage_traits medians = {.makes = RUN_MEDIANS}, elsewhere = {.foreign = ""};
	struct stage_traits traits;
	struct error e;

	CU_ASSERT_EQUAL(stage_check("far.so", "what ever", &medians, &traits, &e), 0);
	CU_ASSERT_STRING_EQUAL(traits.foreign, "");
	CU_ASSERT_EQUAL(stage_check("sort", "", &elsewhere, NULL, &e), 0);
	CU_ASSERT_EQUAL(stage_check("far", "", NULL, NULL, &e), -1);
	CU_ASSERT_PTR_NULL(stage_find("far.so"));
}

static CU_TestInfo foreign_cases[] = {
	{"records are the same in any tree", records_in_any_tree},
	{"records with keys are, too", keyed_records_in_any_tree},
	{"writing past is found, and the kind is not used again", writing_past_is_found},
	{"more records than an answer holds are an error", too_many_records},
	{"what many hosts bring together is bounded", records_from_below_are_bounded},
	{"calls at other times do no harm", calls_at_other_times_do_no_harm},
	{"tables that cannot be used say why", bad_tables},
	{"arguments are the stage's own", arguments},
	{"records that it cannot merge are passed on", strange_records_are_kept},
	{"heads of runs are checked", heads},
	{"stages of other hosts pass", stages_of_other_hosts},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "foreign stages", .pTests = foreign_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
