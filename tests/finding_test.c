/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the maps that are made of what was found: whatever runs where, they say just that. */
#include "consumers/deploy/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/grammar/statement.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tree/stage/stage.h"

static void process_add(struct finding *f, int32_t rank, const char *node)
{
	struct finding_process p = {
		.number = rank,
		.node = finding_node(f, node),
		.name = memory_format("rank%d", rank),
		.program = memory_copy("app"),
		.cpus = memory_format("cpu %d", rank % 3),
		.sure = true,
	};

	finding_process(f, &p);
}

/* Which of @hosts has the rank: in blocks, in turn, or anywhere. */
static unsigned host_of(unsigned way, unsigned rank, unsigned hosts, unsigned by, uint64_t *seed)
{
	switch (way) {
	case 0:
		return rank / by % hosts;
	case 1:
		return rank % hosts;
	default:
		return (unsigned)(random_below(seed, hosts));
	}
}

static void finding_make(struct finding *f, char (*nodes)[16], unsigned ranks, uint64_t *seed)
{
	unsigned hosts = 1 + (unsigned)(random_below(seed, 12)),
		 by = 1 + (unsigned)(random_below(seed, 4));
	unsigned way = (unsigned)(random_below(seed, 3));

	*f = (struct finding){.ranks = ranks, .port = 7440, .engine = ENGINE_SSH};
	f->what = memory_copy("a test");
	f->application = memory_copy("my app");
	f->cluster = memory_copy("");
	for (unsigned rank = 0; rank < ranks; rank++)
		snprintf(nodes[rank], sizeof(nodes[rank]), "n%02u-%u",
			 host_of(way, rank, hosts, by, seed), way);
	/* found in any order */
	for (unsigned i = 0; i < ranks; i++)
		process_add(f, (int32_t)((i * 7 + 3) % ranks), nodes[(i * 7 + 3) % ranks]);
}

static void anything_is_placed(void)
{
	uint64_t seed = 1;
	static char nodes[61][16];

	for (unsigned i = 0; i < 300; i++) {
		/* none that 7 divides: all come */
		unsigned ranks = 1 + (unsigned)(random_below(&seed, 60));
		struct pathmap_texts texts = {0};
		struct pathmap *map;
		struct finding f;
		struct error e = {""};

		ranks += ranks % 7 == 0;
		finding_make(&f, nodes, ranks, &seed);
		CU_ASSERT_EQUAL_FATAL(finding_order(&f, &e), 0);
		if (finding_texts(&f, &texts, &e) < 0) {
			printf("# %s\n%s", e.text, texts.mapping);
			CU_FAIL_FATAL("the maps are not right");
		}
		map = texts_parse(&texts, stage_check, &e);
		CU_ASSERT_EQUAL(pathmap_ranks(map), ranks);
		for (unsigned rank = 0; rank < ranks; rank++)
			CU_ASSERT_STRING_EQUAL(pathmap_rank_node(map, rank), nodes[rank]);
		pathmap_free(map);
		texts_fini(&texts);
		finding_fini(&f);
	}
}

/* How the ranks of @nodes, ended by NULL, are placed. */
static void places_are(const char *const *nodes, const char *places)
{
	struct finding f = {.what = memory_copy("a test")};
	struct error e;
	char *text;

	for (; nodes[f.ranks]; f.ranks++)
		process_add(&f, (int32_t)f.ranks, nodes[f.ranks]);
	CU_ASSERT_EQUAL_FATAL(finding_order(&f, &e), 0);
	text = finding_places(&f);
	CU_ASSERT_STRING_EQUAL(text, places);
	free(text);
	finding_fini(&f);
}

static void in_few_words(void)
{
	places_are((const char *[]){"a", NULL}, "place rank0 on a;\n");
	places_are((const char *[]){"a", "a", "a", NULL}, "place rank[0-2] on a;\n");
	places_are((const char *[]){"w0", "w1", "w2", NULL}, "place rank[0-2] on w[0-2];\n");
	places_are((const char *[]){"w0", "w0", "w1", "w1", "w2", NULL},
		   "place rank[0-4] on w[0-2] by 2;\n");
	places_are((const char *[]){"w0", "w0", "w1", "w2", NULL},
		   "place rank[0-1] on w0;\nplace rank[2-3] on w[1-2];\n");
	places_are((const char *[]){"w0", "w1", "w0", "w1", "w0", NULL},
		   "place rank[0-4] on w[0-1] cyclic;\n");
	places_are((const char *[]){"b", "a", "a", "b", "b", "a", NULL},
		   "place rank[1-2,5] on a;\nplace rank[0,3-4] on b;\n");
}

static void missing_ranks(void)
{
	struct finding f = {.ranks = 6, .what = memory_copy("run x")};
	struct error e;

	process_add(&f, 1, "a");
	process_add(&f, 4, "b");
	CU_ASSERT_EQUAL(finding_order(&f, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "run x: rank[0,2-3,5] of 6 are not here"));
	finding_fini(&f);
}

/* More than maps hold is told, not cut. */
static void too_much(void)
{
	struct finding f = {.ranks = 128000};
	struct error e;

	CU_ASSERT_EQUAL(finding_order(&f, &e), -1);
	CU_ASSERT_STRING_EQUAL(e.text, "128000 ranks; maps hold at most 65536");
	CU_ASSERT_EQUAL(finding_nodes_check(8192, &e), 0);
	CU_ASSERT_EQUAL(finding_nodes_check(8193, &e), -1);
	CU_ASSERT_STRING_EQUAL(e.text, "8193 hosts; at most 8192 are possible");
}

/* As much as maps hold: what is quadratic in it would take minutes. */
static void very_much(void)
{
	struct finding f = {.ranks = 65536, .what = memory_copy("a test")};
	struct error e;
	char *text, node[16];

	for (int32_t rank = 65536; rank-- > 0;) {
		snprintf(node, sizeof(node), "n%d", rank / 8);
		process_add(&f, rank, node);
	}
	CU_ASSERT_EQUAL_FATAL(finding_order(&f, &e), 0);
	text = finding_places(&f);
	CU_ASSERT_STRING_EQUAL(text, "place rank[0-65535] on n[0-8191] by 8;\n");
	free(text);
	finding_fini(&f);
}

static void revised(const char *text, unsigned depth, const char *by, const char *expected)
{
	char *got = revision_replace(text, depth, "place", by);

	CU_ASSERT_STRING_EQUAL(got, expected);
	free(got);
}

/* Everything else in a text stays as it was. */
static void revisions(void)
{
	char *text;

	revised("entry a; # place b;\nplace rank0 on a; # here\nplace rank1 on b;\ntree flat;\n", 0,
		"place X;\n", "entry a; # place b;\nplace X;\n # here\ntree flat;\n");
	revised("entry a;", 0, "place X;\n", "entry a;place X;\n");
	revised("entry a;\n", 1, "place X;", "entry a;\n");
	revised("b { place 1; \"place\" x; c { place 2; } }\nplace 3;\n", 1, "place X;",
		"b { place X; \"place\" x; c { place 2; } }\nplace 3;\n");
	revised("view place { tree flat; }", 0, "", "view place { tree flat; }");
	text = revision_head("# Found by us all, at 1: a\n# b\n\nentry a;\n",
			     "# Found by us all, at 2: c\n\n");
	CU_ASSERT_STRING_EQUAL(text, "# Found by us all, at 2: c\n\nentry a;\n");
	free(text);
	text = revision_head("# mine\n\nentry a;\n", "# Found by us all, at 2: c\n\n");
	CU_ASSERT_STRING_EQUAL(text, "# Found by us all, at 2: c\n\n# mine\n\nentry a;\n");
	free(text);
}

static CU_TestInfo finding_cases[] = {
	{"whatever runs where, the maps say that", anything_is_placed},
	{"in few words", in_few_words},
	{"missing ranks are named", missing_ranks},
	{"more than maps hold is told", too_much},
	{"as much as they hold is placed", very_much},
	{"maps that there are keep everything else", revisions},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "finding", .pTests = finding_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
