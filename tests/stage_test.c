/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests stages by recorded cases (tests/recorded/stages: tuples in, answer out), and the making of
 * them. */
#include "tree/stage/stage.h"
#include "tests/tap.h"
#include "tests/wave.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STAGES_MAX 8

/* A recorded case: "place N", "stage LEVEL KIND ARGS"..., "in" and a wave, "out" and a wave. */
struct recorded {
	char *text, *in, *out;
	struct plan_stage stages[STAGES_MAX];
	size_t n;
	unsigned place;
};

static char *file_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	long bytes;

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(fseek(f, 0, SEEK_END), 0);
	bytes = ftell(f);
	CU_ASSERT_FATAL(bytes > 0);
	rewind(f);
	text = calloc((size_t)bytes + 1, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_EQUAL(fread(text, 1, (size_t)bytes, f), (size_t)bytes);
	fclose(f);
	return text;
}

static void recorded_stage(struct recorded *r, char *words)
{
	struct plan_stage *stage = &r->stages[r->n++];
	char *rest, *level = strtok_r(words, " ", &rest);

	stage->kind = strtok_r(NULL, " ", &rest);
	stage->args = rest;
	for (stage->level = 0; strcmp(level_name(stage->level), level) != 0; stage->level++)
		CU_ASSERT_FATAL(stage->level < LEVEL_ALL);
}

static void recorded_open(struct recorded *r, const char *path)
{
	char *rest, *line;

	*r = (struct recorded){.text = file_text(path)};
	r->in = strstr(r->text, "\nin\n");
	r->out = strstr(r->text, "\nout\n");
	CU_ASSERT_FATAL(r->in && r->out);
	*r->in = '\0';
	*r->out = '\0';
	r->in += 4;
	r->out += 5;
	for (line = strtok_r(r->text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "stage ", 6) == 0)
			recorded_stage(r, line + 6);
		else
			sscanf(line, "place %u", &r->place);
	}
}

static void play(const char *path)
{
	struct recorded r;
	struct batch batch, wanted;
	struct chain chain;
	struct ask ask = {.wave = 7};
	struct error e = {""};
	struct names *names;
	char *is, *should;

	recorded_open(&r, path);
	names = names_new(r.place);
	batch_init(&batch);
	batch_init(&wanted);
	CU_ASSERT_EQUAL_FATAL(chain_init(&chain, r.stages, r.n, names, &e), 0);
	CU_ASSERT_EQUAL(wave_read(r.in, names, &batch), 0);
	CU_ASSERT_EQUAL(chain_apply(&chain, &ask, &batch, 0), 0);
	CU_ASSERT_EQUAL(wave_read(r.out, names, &wanted), 0);
	is = wave_text(&batch, names);
	should = wave_text(&wanted, names);
	if (strcmp(is, should) != 0)
		tap_note("%s gives\n%s", path, is);
	CU_ASSERT_STRING_EQUAL(is, should);
	free(is);
	free(should);
	chain_fini(&chain);
	batch_fini(&batch);
	batch_fini(&wanted);
	names_free(names);
	free(r.text);
}

static void recorded_cases(void)
{
	const char *top = getenv("top_srcdir");
	struct dirent **list;
	char folder[512], path[1024];
	int n, played = 0;

	snprintf(folder, sizeof(folder), "%s/tests/recorded/stages", top ? top : ".");
	n = scandir(folder, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
			play(path);
			played++;
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	CU_ASSERT(played > 0);
}

static void kinds(void)
{
	struct error e;

	CU_ASSERT_PTR_EQUAL(stage_find("reduce"), &reduce_ops);
	CU_ASSERT_PTR_NULL(stage_find("reduces"));
	CU_ASSERT_EQUAL(stage_check("reduce", "last", NULL, NULL, &e), 0);
	CU_ASSERT_EQUAL(stage_check("sort", "", NULL, NULL, &e), 0);
	CU_ASSERT_EQUAL(stage_check("sort", NULL, NULL, NULL, &e), 0);
	CU_ASSERT_EQUAL(stage_check("shrink", "", NULL, NULL, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "there are reduce, filter, sort, convert, "));
	CU_ASSERT_EQUAL(stage_check("medain", "", NULL, NULL, &e), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "\"medain\"; did you mean \"median\"?"));
	CU_ASSERT_EQUAL(stage_check("sort", "upwards", NULL, NULL, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "by the time of start"));
	CU_ASSERT_EQUAL(stage_check("convert", "bytes", NULL, NULL, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "convert time"));
}

/* What is predicted of stages, and how much leaves may read, follows from these. */
static void traits(void)
{
	static const struct {
		const char *kind, *args;
		struct stage_traits traits;
	} all[] = {
		{"reduce", "last", {.makes = RUN_TUPLES, .records = 1, .bytes = 72}},
		{"reduce", "sum by comm by op", {.makes = RUN_TOTALS, .records = 4, .bytes = 72}},
		{"histogram", "", {.makes = RUN_BINS, .records = 12, .bytes = 34}},
		{"histogram", "of bytes by op", {.makes = RUN_BINS, .records = 48, .bytes = 34}},
		{"counts",
		 "by channel",
		 {.counts = true, .makes = RUN_COUNTS, .records = 16, .bytes = 56}},
		{"slowest", "7 by bytes", {.records = 7, .bytes = 56}},
		{"sort", "", {.keeps = true}},
		{"convert", "time", {.keeps = true}},
		{"filter", "bytes>1k", {0}},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct stage_traits *wanted = &all[i].traits;
		struct stage_traits found;

		CU_ASSERT_EQUAL(stage_check(all[i].kind, all[i].args, NULL, &found, NULL), 0);
		CU_ASSERT_EQUAL(found.keeps, wanted->keeps);
		CU_ASSERT_EQUAL(found.counts, wanted->counts);
		CU_ASSERT_EQUAL(found.makes, wanted->makes);
		CU_ASSERT_DOUBLE_EQUAL(found.records, wanted->records, 1e-9);
		CU_ASSERT_DOUBLE_EQUAL(found.bytes, wanted->bytes, 1e-9);
	}
}

static void chain_with_a_fault(void)
{
	char sort[] = "sort", reduce[] = "reduce", none[] = "", wrong[] = "lastly";
	const struct plan_stage list[] = {
		{.kind = sort, .args = none},
		{.kind = reduce, .args = wrong},
	};
	struct chain chain;
	struct error e;

	errno = 0;
	CU_ASSERT_EQUAL(chain_init(&chain, list, 2, NULL, &e), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "reduce lastly"));
	CU_ASSERT_EQUAL(chain.n, 0);
	chain_fini(&chain);
	chain_fini(NULL);
	stage_free(NULL);
}

/* Of what an entry of a later release sends: which release is here, and what to do. */
static void chain_of_another_release(void)
{
	char sort[] = "sort", sketch[] = "sketch", none[] = "";
	const struct plan_stage list[] = {
		{.kind = sort, .args = none},
		{.kind = sketch, .args = none},
	};
	struct chain chain;
	struct error e;

	errno = 0;
	CU_ASSERT_EQUAL(chain_init(&chain, list, 2, NULL, &e), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(e.text, ") has no stage \"sketch\"; start it from the entry's"));
	CU_ASSERT_EQUAL(chain.n, 0);
	CU_ASSERT_EQUAL(stage_check("sort", NULL, NULL, NULL, &e), 0);
	CU_ASSERT_EQUAL(stage_check("filter", NULL, NULL, NULL, &e), 0);
	CU_ASSERT_EQUAL(stage_check("sketch", NULL, NULL, NULL, &e), -1);
}

static void nothing_in_a_wave(void)
{
	static const char *const all[][2] = {
		{"reduce", "last"}, {"reduce", "sum"},	 {"filter", "op=Send"},
		{"sort", ""},	    {"convert", "time"},
	};
	struct names *names = names_new(0);
	struct ask ask = {.wave = 1};
	struct batch b;

	batch_init(&b);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct stage *s =
			stage_new(stage_find(all[i][0]), LEVEL_ALL, names, all[i][1], NULL);

		CU_ASSERT_EQUAL(s->ops->apply(s, &ask, &b), 0);
		CU_ASSERT_EQUAL(b.n, 0);
		stage_free(s);
	}
	batch_fini(&b);
	names_free(names);
}

static CU_TestInfo stage_cases[] = {
	{"recorded cases", recorded_cases},
	{"kinds and their arguments are checked", kinds},
	{"traits are what the arguments make of them", traits},
	{"a chain with a fault is not made", chain_with_a_fault},
	{"a chain with a stage of another release", chain_of_another_release},
	{"a wave without anything", nothing_in_a_wave},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "stage", .pTests = stage_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
