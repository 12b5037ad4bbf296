/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a pathmap answers: defaults, capacities, ranks, addresses, faults, the local one. */
#include "pathmap/model/pathmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-class.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"
#include "tests/maps.h"
#include "tests/tap.h"

static const char application[] = "application demo { ranks rank[0-4]; }";
static const char cluster[] =
	"cluster A { nodes a[0-1]; address 127.0.0.1:[7442-7443]; gateway ga; }\n"
	"cluster B { nodes b0; address [::1]:7444; }\n"
	"node ga { address ga.example.org:7441; }\n"
	"node front;";
static const char mapping[] = "entry front; place rank[0-3] on a[0-1] by 2; place rank4 on b0;";

static struct pathmap *made(const char *application_text)
{
	struct pathmap *map = maps_make_of(application_text, cluster, mapping, stderr);

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	return map;
}

static void names_and_addresses(void)
{
	static const char *const nodes[] = {"a0", "a1", "b0", "ga", "front"};
	struct pathmap *map = made(application);
	const char *const *names;

	CU_ASSERT_STRING_EQUAL(pathmap_application(map), "demo");
	CU_ASSERT_STRING_EQUAL(pathmap_entry(map), "front");
	CU_ASSERT_STRING_EQUAL(pathmap_address(map, "a1"), "127.0.0.1:7443");
	CU_ASSERT_STRING_EQUAL(pathmap_address(map, "b0"), "[::1]:7444");
	CU_ASSERT_STRING_EQUAL(pathmap_address(map, "front"), "");
	CU_ASSERT_PTR_NULL(pathmap_address(map, "a2"));
	CU_ASSERT_STRING_EQUAL(pathmap_cluster(map, "a0"), "A");
	CU_ASSERT_STRING_EQUAL(pathmap_cluster(map, "ga"), "");
	CU_ASSERT_PTR_NULL(pathmap_cluster(map, "A"));
	CU_ASSERT_EQUAL_FATAL(pathmap_nodes(map, &names), 5);
	for (size_t i = 0; i < 5; i++)
		CU_ASSERT_STRING_EQUAL(names[i], nodes[i]);
	pathmap_free(map);
}

static void ranks(void)
{
	struct pathmap *map = made(application);

	CU_ASSERT_EQUAL(pathmap_ranks(map), 5);
	CU_ASSERT_TRUE(pathmap_places_ranks(map));
	CU_ASSERT_TRUE(pathmap_rank_on(map, 1, "a0"));
	CU_ASSERT_FALSE(pathmap_rank_on(map, 1, "a1"));
	CU_ASSERT_FALSE(pathmap_rank_on(map, 1, "nobody"));
	CU_ASSERT_STRING_EQUAL(pathmap_rank_node(map, 4), "b0");
	CU_ASSERT_PTR_NULL(pathmap_rank_node(map, 5));
	CU_ASSERT_PTR_NULL(pathmap_rank_node(map, 4294967295u));
	CU_ASSERT_FALSE(pathmap_rank_on(map, 5, "b0"));
	pathmap_free(map);
}

static void ranks_left_open(void)
{
	static const char open[] = "application demo { ranks any; }";
	struct pathmap *map = maps_make_of(open, cluster, "entry front;", stderr);

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL(pathmap_ranks(map), 0);
	CU_ASSERT_FALSE(pathmap_places_ranks(map));
	CU_ASSERT_FALSE(pathmap_rank_on(map, 0, "a0"));
	CU_ASSERT_PTR_NULL(pathmap_rank_node(map, 0));
	pathmap_free(map);
	map = maps_make_of(open, cluster, "entry front; place all on b0;", stderr);
	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_TRUE(pathmap_places_ranks(map));
	CU_ASSERT_TRUE(pathmap_rank_on(map, 70000, "b0"));
	CU_ASSERT_FALSE(pathmap_rank_on(map, 0, "a0"));
	pathmap_free(map);
}

static unsigned capacity(const struct pathmap *map, const char *channel)
{
	const struct recording *recording = pathmap_recording(map, channel);

	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	return recording->collected ? recording->capacity : 0;
}

static void capacities(void)
{
	struct pathmap *map = made(application);

	CU_ASSERT_EQUAL(capacity(map, "p2p"), 0);
	CU_ASSERT_EQUAL(capacity(map, "pack"), 0);
	CU_ASSERT_PTR_NULL(pathmap_recording(map, "state"));
	CU_ASSERT_PTR_NULL(pathmap_recording(map, ""));
	pathmap_free(map);
	map = made("application demo { ranks any; collect p2p wait; collect env { capacity 7; } "
		   "capacity 1000; }");
	CU_ASSERT_EQUAL(capacity(map, "p2p"), 1000);
	CU_ASSERT_EQUAL(capacity(map, "wait"), 1000);
	CU_ASSERT_EQUAL(capacity(map, "env"), 7);
	CU_ASSERT_EQUAL(capacity(map, "collective"), 0);
	pathmap_free(map);
}

static void recordings(void)
{
	struct pathmap *map = made("application demo { ranks any; "
				   "collect p2p rma { element site; lifetime 2.5ms; mode count; } "
				   "collect wait { element op; lifetime 10s; } "
				   "collect comm { element comm; mode off; } collect io; }");
	const struct recording *r = pathmap_recording(map, "rma");

	CU_ASSERT_TRUE(r->collected);
	CU_ASSERT_STRING_EQUAL(r->element, "site");
	CU_ASSERT_STRING_EQUAL(r->mode, "count");
	CU_ASSERT_EQUAL(r->lifetime_ns, 2500000);
	CU_ASSERT_EQUAL(r->capacity, 0);
	r = pathmap_recording(map, "wait");
	CU_ASSERT_STRING_EQUAL(r->element, "op");
	CU_ASSERT_STRING_EQUAL(r->mode, "trace");
	CU_ASSERT_EQUAL(r->lifetime_ns, UINT64_C(10000000000));
	r = pathmap_recording(map, "comm");
	CU_ASSERT_STRING_EQUAL(r->element, "comm");
	CU_ASSERT_STRING_EQUAL(r->mode, "off");
	r = pathmap_recording(map, "io");
	CU_ASSERT_STRING_EQUAL(r->element, "thread");
	CU_ASSERT_EQUAL(r->lifetime_ns, 0);
	CU_ASSERT_FALSE(pathmap_recording(map, "env")->collected);
	pathmap_free(map);
}

/* The maps' words are those of collectors, though neither knows the other. */
static void words_of_collectors(void)
{
	const char *const *names;
	size_t n = pathmap_channels(&names);
	char text[128];

	CU_ASSERT_EQUAL(n, CHANNEL_PROGRAMS);
	for (unsigned i = 0; i < n && i < CHANNEL_PROGRAMS; i++)
		CU_ASSERT_STRING_EQUAL(names[i], channel_name(i));
	for (unsigned mode = 0; mode < MODE_COUNT_OF; mode++) {
		snprintf(text, sizeof(text),
			 "application demo { ranks any; collect p2p { mode %s; } }",
			 segment_mode_name(mode));
		pathmap_free(made(text));
	}
	pathmap_free(made("application demo { ranks any; collect p2p { mode 1/65536; } }"));
	for (unsigned split = 0; split < SPLIT_COUNT; split++) {
		snprintf(text, sizeof(text),
			 "application demo { ranks any; collect p2p { element %s; } }",
			 segment_split_name(split));
		pathmap_free(made(text));
	}
}

static void shipped_views(void)
{
	struct pathmap *map = made("application demo { ranks any; view z { read stream; } "
				   "view events { read latest; } view a { read latest; } }");
	static const char *const views[] = {"z", "events", "a", "heartbeat"};
	const char *const *names;
	struct plan *plan;

	CU_ASSERT_EQUAL_FATAL(pathmap_views(map, &names), 15);
	for (size_t i = 0; i < 4; i++)
		CU_ASSERT_STRING_EQUAL(names[i], views[i]);
	CU_ASSERT_TRUE(pathmap_view(map, "rates")->quiet);
	CU_ASSERT_FALSE(pathmap_view(map, "z")->quiet);
	CU_ASSERT_PTR_NULL(pathmap_view(map, "rates@node"));
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "events", &plan, NULL), 0);
	CU_ASSERT_EQUAL(plan->reading, READ_LATEST);
	plan_free(plan);
	pathmap_free(map);
}

/* The stages of the only place of @view's plan, as text. */
static char *stages_of(const struct pathmap *map, const char *view)
{
	struct plan *plan;
	char *text = memory_copy("");

	CU_ASSERT_EQUAL_FATAL(plan_make(map, view, &plan, NULL), 0);
	for (size_t i = 0; i < plan->root->n_local + plan->root->n_joined; i++) {
		const struct plan_stage *stage =
			i < plan->root->n_local ? &plan->root->local[i]
						: &plan->root->joined[i - plan->root->n_local];
		char *longer = memory_format("%s%s %s %s;", text, level_name(stage->level),
					     stage->kind, stage->args);

		free(text);
		text = longer;
	}
	plan_free(plan);
	return text;
}

static void views_of_views(void)
{
	static const char text[] =
		"application demo { ranks any; view b { use a; node two; }\n"
		"view a { select /**/p2p; read stream; thread one; }\n"
		"view c { element zero; use b; all three; }\n"
		"view d { use b; select /**/wait; }\n"
		"view e { use big heartbeat; } view big { read latest; element filter bytes>9; } }";
	static const char alone[] = "cluster A { nodes a0; }",
			  here[] = "entry a0; place all on a0;";
	static const struct {
		const char *view, *stages;
	} wanted[] = {
		{"b", "thread one ;node two ;"},
		{"c", "element zero ;thread one ;node two ;all three ;"},
		{"c@node", "element zero ;thread one ;node two ;"},
		{"c@element", "element zero ;"},
		{"d", "thread one ;node two ;"},
		{"e", "element filter bytes>9;thread reduce last;"},
		{"rates@thread", "thread counts by channel by comm;"},
	};
	const struct map_text texts[3] = {
		{text, strlen(text)}, {alone, strlen(alone)}, {here, strlen(here)}};
	struct pathmap *map = maps_make(texts, NULL, stderr);
	struct plan *plan;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		char *stages = stages_of(map, wanted[i].view);

		CU_ASSERT_STRING_EQUAL(stages, wanted[i].stages);
		free(stages);
	}
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "c", &plan, NULL), 0);
	CU_ASSERT_EQUAL(plan->reading, READ_STREAM);
	CU_ASSERT_EQUAL_FATAL(plan->n_select, 1);
	CU_ASSERT_STRING_EQUAL(plan->select[0], "/**/p2p");
	plan_free(plan);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "d", &plan, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(plan->n_select, 1);
	CU_ASSERT_STRING_EQUAL(plan->select[0], "/**/wait");
	plan_free(plan);
	CU_ASSERT_EQUAL(plan_make(map, "c@rank", &plan, NULL), -1);
	pathmap_free(map);
}

static char checked[256];

static int stage_noted(const char *kind, const char *args, const struct stage_traits *below,
		       struct stage_traits *traits, struct error *e)
{
	size_t length = strlen(checked);

	(void)traits;
	/* whether there is such a kind may be asked as well */
	if (below || !args)
		return 0;
	snprintf(checked + length, sizeof(checked) - length, "%s(%s)", kind, args);
	if (strcmp(kind, "melt") == 0)
		return errorf(e, "nothing melts here");
	return 0;
}

static void stages_are_checked(void)
{
	static const char text[] =
		"application demo { ranks any; view a { read latest; thread reduce last;\n"
		"node\nreduce \"sum of\"   bytes; all melt; all sort; } }";
	static const char wanted[] = "reduce(last)reduce(sum of bytes)melt()sort()";
	const struct map_text texts[3] = {
		{text, strlen(text)},
		{cluster, strlen(cluster)},
		{mapping, strlen(mapping)},
	};
	char *said = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&said, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_PTR_NULL(maps_make(texts, stage_noted, out));
	fclose(out);
	/* Those of shipped views follow. */
	CU_ASSERT_EQUAL(strncmp(checked, wanted, strlen(wanted)), 0);
	CU_ASSERT_STRING_EQUAL(said, "application.map:3:30: nothing melts here\n"
				     "\treduce \"sum of\"   bytes; all melt; all sort; } }\n"
				     "\t                             ^\n");
	free(said);
}

static void local(void)
{
	struct pathmap *map = pathmap_local("here", NULL);
	const char *const *names;

	CU_ASSERT_EQUAL(pathmap_nodes(map, &names), 1);
	CU_ASSERT_STRING_EQUAL(names[0], "here");
	CU_ASSERT_EQUAL(pathmap_views(map, &names), 13);
	CU_ASSERT_STRING_EQUAL(pathmap_entry(map), "here");
	CU_ASSERT_STRING_EQUAL(pathmap_cluster(map, "here"), "local");
	CU_ASSERT_STRING_EQUAL(pathmap_address(map, "here"), "");
	CU_ASSERT_TRUE(pathmap_rank_on(map, 0, "here"));
	CU_ASSERT_TRUE(pathmap_rank_on(map, 123456, "here"));
	CU_ASSERT_EQUAL(pathmap_ranks(map), 0);
	CU_ASSERT_EQUAL(capacity(map, "wait"), 0);
	pathmap_free(map);
	errno = ENOSPC;
	pathmap_free(NULL);
	CU_ASSERT_EQUAL(errno, ENOSPC);
}

struct seen {
	size_t n;
	struct pathmap_fault last;
};

static void fault_seen(const struct pathmap_fault *fault, void *arg)
{
	struct seen *seen = arg;

	seen->n++;
	seen->last.line = fault->line;
	seen->last.column = fault->column;
}

/* A folder of the source tree, the caller's to free. */
static char *source_folder(const char *name)
{
	const char *top = getenv("top_srcdir");

	return memory_format("%s/%s", top != NULL ? top : ".", name);
}

static void from_files(void)
{
	char *dir = source_folder("pathmap/examples/paper");
	struct error e;
	struct pathmap *map = pathmap_load(dir, NULL, stderr, &e);

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL(pathmap_ranks(map), 140);
	CU_ASSERT_STRING_EQUAL(pathmap_rank_node(map, 139), "e3");
	pathmap_free(map);
	free(dir);
}

static void faults_of_files(void)
{
	char *dir = source_folder("tests/recorded/pathmap/error-ranks");
	char *summary = memory_format("1 error in %s", dir);
	struct seen seen = {0};
	struct error e;

	errno = 0;
	CU_ASSERT_PTR_NULL(pathmap_load(dir, NULL, NULL, &e));
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_STRING_EQUAL(e.text, summary);
	CU_ASSERT_PTR_NULL(pathmap_examine(dir, NULL, fault_seen, &seen, NULL));
	CU_ASSERT_EQUAL(seen.n, 1);
	CU_ASSERT_EQUAL(seen.last.line, 2);
	CU_ASSERT_EQUAL(seen.last.column, 42);
	seen.n = 0;
	CU_ASSERT_PTR_NULL(pathmap_examine("/nowhere", NULL, fault_seen, &seen, &e));
	CU_ASSERT_EQUAL(seen.n, 0);
	CU_ASSERT_PTR_EQUAL(strstr(e.text, "/nowhere: No such file or directory; "), e.text);
	free(summary);
	free(dir);
}

static void bounded_complaints(void)
{
	char *text = memory_new(1 << 20, 1), *said = NULL;
	size_t size = 0, lines = 0;
	FILE *out = open_memstream(&said, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	memset(text, '}', (1 << 20) - 1);
	CU_ASSERT_PTR_NULL(maps_make_of(application, cluster, text, out));
	fclose(out);
	for (size_t i = 0; i < size; i++)
		lines += said[i] == '\n';
	CU_ASSERT_EQUAL(lines, 301);
	free(said);
	free(text);
}

/* One too many of what there is a limit to is said once, in so many words. */
static void limits(void)
{
	char *texts[3] = {0}, *said = NULL;
	size_t sizes[3], size;
	FILE *out[3];

	for (size_t i = 0; i < 3; i++) {
		out[i] = open_memstream(&texts[i], &sizes[i]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(out[i]);
	}
	fprintf(out[0], "application demo { ranks any; ");
	for (unsigned i = 0; i < 257; i++)
		fprintf(out[0], "view v%u { read latest; } ", i);
	fprintf(out[0], "}");
	for (unsigned i = 0; i < 1025; i++)
		fprintf(out[1], "cluster c%u { nodes n%u; } ", i, i);
	fprintf(out[1], "cluster large { nodes m[0-65535]; }");
	fprintf(out[2], "entry n0;");
	for (size_t i = 0; i < 3; i++)
		fclose(out[i]);
	out[0] = open_memstream(&said, &size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out[0]);
	CU_ASSERT_PTR_NULL(maps_make_of(texts[0], texts[1], texts[2], out[0]));
	fclose(out[0]);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "more than 256 views"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "more than 1024 clusters"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "more than 65536 nodes"));
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
	free(said);
}

/* Ten gateways in a row: the first is behind nine others. */
static void gateways_in_a_row(void)
{
	char *row = memory_copy("cluster A { nodes a0; } "), *said = NULL;
	size_t size;
	FILE *out = open_memstream(&said, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (unsigned i = 0; i < 10; i++) {
		char *longer = memory_format("%snode g%u { gateway g%u; } ", row, i, i + 1);

		free(row);
		row = longer;
	}
	CU_ASSERT_PTR_NULL(maps_make_of(application, row, mapping, out));
	free(row);
	row = NULL;
	fclose(out);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "no node `g10`"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "`g0` is behind more than 8 gateways"));
	CU_ASSERT_PTR_NULL(strstr(said, "`g1` is behind"));
	free(said);
}

static CU_TestInfo pathmap_cases[] = {
	{"names and addresses of nodes", names_and_addresses},
	{"where ranks are", ranks},
	{"ranks left open", ranks_left_open},
	{"capacities of channels", capacities},
	{"what is recorded of channels", recordings},
	{"the words are those of collectors", words_of_collectors},
	{"shipped views, and views in their place", shipped_views},
	{"views that are made of others", views_of_views},
	{"stages are checked by the caller's check", stages_are_checked},
	{"the local pathmap", local},
	{"the paper's pathmap from its files", from_files},
	{"faults of files: summary, line, column", faults_of_files},
	{"limits", limits},
	{"gateways in a row", gateways_in_a_row},
	{"a million faults are a hundred complaints", bounded_complaints},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "pathmap", .pTests = pathmap_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
