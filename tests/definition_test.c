/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests views that consumers define: what is read of them, what a map allows, and what is said of
 * the rest. */
#include "pathmap/model/definition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"
#include "tests/maps.h"
#include "tests/tap.h"
#include "tree/stage/stage.h"

static const char cluster[] = "cluster A { nodes a[0-1]; address 127.0.0.1:[1-2]; }\n"
			      "node front { address 127.0.0.1:3; }\n";
static const char mapping[] = "entry front; place rank[0-1] on a[0-1];\n";

/* The map with @views, "views { ... }", and two views. */
static struct pathmap *map_with(const char *views, FILE *complaints)
{
	char *application = memory_format("application a { ranks rank[0-1]; %s\n"
					  "view low { read stream; thread sort; node sort; }\n"
					  "view old { read latest; } }\n",
					  views);
	const struct map_text texts[3] = {
		{application, strlen(application)},
		{cluster, strlen(cluster)},
		{mapping, strlen(mapping)},
	};
	struct pathmap *map = maps_make(texts, stage_check, complaints);

	free(application);
	return map;
}

static struct view *read_by(const struct pathmap *map, const char *text, struct error *e)
{
	const struct definition definition = {text, strlen(text)};

	errno = 0;
	return definition_read(&definition, map, stage_check, NULL, e);
}

static void what_is_said_is_read(void)
{
	struct pathmap *map = map_with("", NULL);
	struct view *view =
		read_by(map, "select /**/p2p /A/a0/**; use low; all\n slowest 5 # no end", NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(view);
	CU_ASSERT_STRING_EQUAL(view->name, DEFINITION_VIEW);
	CU_ASSERT_EQUAL(view->n_select, 2);
	CU_ASSERT_EQUAL_FATAL(view->n_stages, 3);
	CU_ASSERT_STRING_EQUAL(view->stages[0].kind, "sort");
	CU_ASSERT_EQUAL(view->stages[2].level, LEVEL_ALL);
	CU_ASSERT_STRING_EQUAL(view->stages[2].args, "5");
	CU_ASSERT_TRUE(view->stages[2].traits.records > 4);
	CU_ASSERT_EQUAL(view->reading, READ_STREAM);
	view_free(view);
	pathmap_free(map);
}

static void reading_is_found(void)
{
	static const struct {
		const char *text;
		enum reading reading;
	} of[] = {
		{"all sort", READ_STREAM},
		{" \t\n# nothing", READ_STREAM},
		{"thread counts by comm", READ_COUNTS},
		{"read latest; thread reduce last;", READ_LATEST},
		{"use old", READ_LATEST},
		{"use rates", READ_COUNTS},
	};
	struct pathmap *map = map_with("", NULL);

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct view *view = read_by(map, of[i].text, NULL);

		CU_ASSERT_PTR_NOT_NULL_FATAL(view);
		CU_ASSERT_EQUAL(view->reading, of[i].reading);
		CU_ASSERT_EQUAL(view->n_select, 1);
		view_free(view);
	}
	pathmap_free(map);
}

static void is_refused(const struct pathmap *map, const char *text, const char *wanted)
{
	struct error e = {""};
	struct view *view = read_by(map, text, &e);

	CU_ASSERT_PTR_NULL(view);
	view_free(view);
	CU_ASSERT_EQUAL(errno, EINVAL);
	if (!strstr(e.text, wanted))
		printf("# %s\n", e.text);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, wanted));
}

static void faults_have_their_column(void)
{
	struct pathmap *map = map_with("", NULL);

	is_refused(map, "node reduc max of bytes",
		   "--define:1:6: there is no stage \"reduc\"; did you mean \"reduce\"?");
	is_refused(map, "all sort;\nselect p2p", "--define:2:8: ");
	is_refused(map, "use rats", "--define:1:5: there is no view `rats`; did you mean `rates`?");
	is_refused(map, "use low; thread sort", "--define:1:5: with `use low`");
	is_refused(map, "use low old", "a view has one reading");
	is_refused(map, "read stream; thread counts", "view `(defined)` reads `stream`: ");
	is_refused(map, "view x { all sort; }", "--define:1:1: `view` cannot be in `view`");
	is_refused(map, "all sort {", "--define:1:1: `all` has no block");
	is_refused(map, "all sort; }", "--define:1:11: `}` without its `{`");
	is_refused(map, "application b { ranks any; }", "--define:1:1: `application`");
	is_refused(map, "all", "--define:1:1: `all` is not complete");
	is_refused(map, "", "--define: no text");
	is_refused(NULL, "node \"reduce", "--define:1:6: a string without its end");
	pathmap_free(map);
}

/* Without a map, what it has is not known. */
static void without_a_map_grammar_counts(void)
{
	struct view *view = read_by(NULL, "use whatever; all sort", NULL);

	CU_ASSERT_PTR_NOT_NULL(view);
	view_free(view);
	view = read_by(NULL, "use whatever; all sketch 5", NULL);
	CU_ASSERT_PTR_NOT_NULL(view);
	view_free(view);
	is_refused(NULL, "use whatever; all sort upwards", "sort \"upwards\" is unknown");
	is_refused(NULL, "all sketch.so", "`sketch.so` is no stage");
	is_refused(NULL, "slowest 3",
		   "--define:1:1: no level before the stage `slowest`; write `all slowest`");
}

/* A map names stages of others, and says whether consumers may. */
static void stages_of_others(void)
{
	struct pathmap *map = map_with("stage sketch from \"sketch.so\";", NULL);
	struct view *view;

	is_refused(map, "all sketch", "`sketch` is a stage of others, which the map lets");
	is_refused(map, "all sketch.so", "`sketch.so` is no stage");
	is_refused(map, "all \"_x.so\"", "`_x.so` is no stage");
	is_refused(map, "all \"two words.so\"", "`two words.so` is no stage");
	is_refused(map, "all \"../x.so\"", "`../x.so` is no stage");
	pathmap_free(map);
	map = map_with("stage sketch from \"sketch.so\"; views { kinds sort sketch; }", NULL);
	is_refused(map, "all sketh", "there is no stage \"sketh\"; did you mean \"sketch\"?");
	is_refused(map, "sketch 5", "no level before the stage `sketch`");
	view = read_by(map, "all sketch 5", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(view);
	CU_ASSERT_STRING_EQUAL(view->stages[0].kind, "sketch.so");
	CU_ASSERT_STRING_EQUAL(view->stages[0].args, "5");
	view_free(view);
	pathmap_free(map);
}

/* @n times @text, for free(). */
static char *repeated(const char *text, size_t n)
{
	const size_t length = strlen(text);
	char *all = memory_new(n * length + 1, 1);

	for (size_t i = 0; i < n; i++)
		memcpy(all + i * length, text, length);
	return all;
}

static void hostile_texts_are_refused(void)
{
	static const char zero[] = "all so\0rt";
	const struct definition with_zero = {zero, sizeof(zero) - 1};
	struct pathmap *map = map_with("", NULL);
	char *stages = repeated("all sort;", 10000), *blocks = repeated("all{", 1000);
	char *uses = repeated("use low;", 500), *long_word = repeated("a", 4000);
	struct error e;

	is_refused(map, stages, "the text of a view has 4096 at most");
	stages[450] = '\0';
	is_refused(map, stages, "--define:1:77: more than 8 stages, which is what the map lets");
	is_refused(NULL, stages + 400, "no level before the stage");
	is_refused(map, blocks, "--define:1:1: `all` is not complete");
	is_refused(map, uses, "more than 64 views; leave some out");
	is_refused(map, long_word, "unknown word in `view`");
	is_refused(map, "node \xff", "is not UTF-8");
	is_refused(map, "node \x1b[31m", "a control character (0x1b)");
	CU_ASSERT_PTR_NULL(definition_read(&with_zero, map, NULL, NULL, &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "--define:1:7: a zero byte"));
	free(stages);
	free(blocks);
	free(uses);
	free(long_word);
	pathmap_free(map);
}

static void a_map_says_what_may_be(void)
{
	struct pathmap *map =
		map_with("views { defined by control; stages at most 2; open at most 7; "
			 "cost at most 5ms; kinds sort reduce; }",
			 NULL);
	const struct definable *definable;
	struct view *view;
	char *text;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	definable = pathmap_definable(map);
	CU_ASSERT_EQUAL(definable->by, DEFINER_CONTROL);
	CU_ASSERT_EQUAL(definable->open, 7);
	CU_ASSERT_EQUAL(definable->cost_ns, 5000000);
	text = definable_text(definable);
	CU_ASSERT_STRING_EQUAL(text,
			       "by control, 2 stages and 7 views at once at most, 5 ms of CPU "
			       "time a wave, of sort reduce");
	free(text);
	is_refused(map, "all sort; all sort; all sort", "--define:1:25: more than 2 stages");
	is_refused(map, "use low; all sort", "more than 2 stages with those of the views");
	is_refused(
		map, "all slowest 5",
		"--define:1:5: the map lets consumers' own views have no stage `slowest`, but `");
	/* what the map's own views do is the map's affair */
	view = read_by(map, "use low", NULL);
	CU_ASSERT_PTR_NOT_NULL(view);
	view_free(view);
	pathmap_free(map);
	map = map_with("views { defined by none; }", NULL);
	CU_ASSERT_PTR_NULL(read_by(map, "all sort", NULL));
	CU_ASSERT_EQUAL(errno, EACCES);
	pathmap_free(map);
}

static void faults_of_a_map_are_told(void)
{
	static const struct {
		const char *views, *wanted;
	} faults[] = {
		{"views { defined for all; }", "`for` instead of `by`"},
		{"views { defined by observer; }", "did you mean `observe`?"},
		{"views { stages at least 3; }", "`at least` instead of `at most`"},
		{"views { stages at most 0; }", "1:57: `"},
		{"views { stages at most 65; }", "1:57: `"},
		{"views { open at most many; }", "1:55: `"},
		{"views { cost at most 5; }", "1:55: `"},
		{"views { cost at most 0ms; }", "a view that costs nothing"},
		{"views { kinds sort sorrt; }",
		 "there is no stage \"sorrt\"; did you mean \"sort\"?"},
		{"views { } views { }", "a second `views`"},
		{"views { kind sort; }", "did you mean `kinds`?"},
		{"kinds sort;", "`kinds` cannot be in `application`; it belongs in `views`"},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		char *said = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&said, &size);

		CU_ASSERT_PTR_NOT_NULL_FATAL(out);
		CU_ASSERT_PTR_NULL(map_with(faults[i].views, out));
		fclose(out);
		if (!strstr(said, faults[i].wanted))
			printf("# %s\n", said);
		CU_ASSERT_PTR_NOT_NULL(strstr(said, faults[i].wanted));
		free(said);
	}
}

static void views_that_use_views_have_a_bound(void)
{
	char *text =
		memory_copy("view u0 { read stream; all sort; all sort; all sort; all sort; }\n");
	char *said = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&said, &size);

	for (int i = 1; i < 30; i++) {
		char *more = memory_format("%sview u%d { use u%d u%d u%d u%d; }\n", text, i, i - 1,
					   i - 1, i - 1, i - 1);

		free(text);
		text = more;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_PTR_NULL(map_with(text, out));
	fclose(out);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "view `u3` has more than 64 stages"));
	free(said);
	free(text);
}

static void plans_are_made_of_them(void)
{
	static const char text[] = "select /A/a1/**; thread sort; all reduce count";
	struct plan_wish wish = {.view = "@thread", .definition = {text, strlen(text)}};
	struct pathmap *map = map_with("", NULL);
	struct plan *plan;
	struct error e;

	CU_ASSERT_EQUAL_FATAL(plan_make_wish(map, &wish, &plan, &e), 0);
	CU_ASSERT_STRING_EQUAL(plan->view, DEFINITION_VIEW "@thread");
	CU_ASSERT_EQUAL(plan->n_places, 2);
	CU_ASSERT_EQUAL(plan->root->n_joined, 0);
	CU_ASSERT_EQUAL(plan->root->children[0]->n_local, 1);
	plan_free(plan);
	wish.view = "";
	CU_ASSERT_EQUAL_FATAL(plan_make_wish(map, &wish, &plan, &e), 0);
	CU_ASSERT_EQUAL(plan->root->n_joined, 1);
	plan_free(plan);
	wish.view = "x@rank";
	CU_ASSERT_EQUAL(plan_make_wish(map, &wish, &plan, &e), -1);
	CU_ASSERT_STRING_EQUAL(e.text,
			       "no level `rank`; there are element, thread, node, cluster, all");
	pathmap_free(map);
}

static CU_TestInfo definition_cases[] = {
	{"what is said is read", what_is_said_is_read},
	{"how it reads is found", reading_is_found},
	{"faults have their column", faults_have_their_column},
	{"without a map grammar and stages count", without_a_map_grammar_counts},
	{"stages of others are those that the map names", stages_of_others},
	{"hostile texts are refused", hostile_texts_are_refused},
	{"a map says what may be", a_map_says_what_may_be},
	{"faults of a map are told", faults_of_a_map_are_told},
	{"views that use views have a bound", views_that_use_views_have_a_bound},
	{"plans are made of them", plans_are_made_of_them},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "definition", .pTests = definition_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
