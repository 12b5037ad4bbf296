/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what changes from map to map: differences in words, indexes that stay, ranks that would
 * move. */
#include "pathmap/plan/difference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/plan/holding.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/roster.h"
#include "pathmap/texts.h"
#include "tests/maps.h"
#include "tests/tap.h"

static const char application[] =
	"application demo { ranks rank[0-3]; view v { select /**; read stream; } }";
static const char cluster[] = "cluster A { nodes a[0-1]; address a[0-1].example:1; gateway ga; }"
			      "cluster B { nodes b[0-1]; address b[0-1].example:1; }"
			      "node ga { address ga.example:1; } node front;";
static const char mapping[] = "entry front; place rank[0-3] on a[0-1] b[0-1];";

static struct pathmap *first(void)
{
	struct pathmap *map = maps_make_of(application, cluster, mapping, stderr);

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	return map;
}

/* ---- differences ---- */

static void note(void *arg, const struct difference *d)
{
	char **all = arg;
	char *longer = memory_format("%s%s%s%s\n", *all, d->view ? d->view : "",
				     d->view ? ": " : "", d->text);

	free(*all);
	*all = longer;
}

/* Each of @expected, which ends with NULL, is a line of what differs; *@n lines there are. */
static void differs(const char *app, const char *clusters, const char *places,
		    const char *const *expected, size_t n)
{
	struct pathmap *from = first(), *to = maps_make_of(app, clusters, places, stderr);
	char *all = memory_copy("");

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	CU_ASSERT_EQUAL(difference_walk(from, to, note, &all), n);
	for (; *expected; expected++) {
		char *line = memory_format("%s\n", *expected);

		CU_ASSERT_PTR_NOT_NULL(strstr(all, line));
		if (!strstr(all, line))
			tap_note("no '%s' in:\n%s", *expected, all);
		free(line);
	}
	free(all);
	pathmap_free(from);
	pathmap_free(to);
}

static void nothing(void)
{
	const char *const none[] = {NULL};

	differs(application, cluster, mapping, none, 0);
	differs(application, cluster,
		"entry front; # the same\nplace rank[0-3] on a[0-1] b[0-1]; tree by-cluster;", none,
		0);
}

static void shape(void)
{
	const char *const lines[] = {"v: b1 from b0 to front", "events: b1 from b0 to front", NULL};
	char *flat = memory_format("%s view v { tree flat; } view events { tree flat; }", mapping);

	differs(application, cluster, flat, lines, 2);
	free(flat);
}

static void nodes(void)
{
	const char *const lines[] = {"b1 is taken away",
				     "b1 holds no ranks instead of 3",
				     "c is added",
				     "a1 listens on a1.example:2 instead of a1.example:1",
				     "v: b1 leaves the tree",
				     NULL};
	struct pathmap *from = first();
	struct pathmap *to = maps_make_of(
		"application demo { ranks rank[0-2]; view v { select /**; read stream; } }",
		"cluster A { nodes a[0-1]; address a0 a0.example:1; address a1 a1.example:2; "
		"gateway ga; } cluster B { nodes b0; address b0.example:1; }"
		"node ga { address ga.example:1; } node front; node c { address c.example:1; }",
		"entry front; place rank[0-2] on a[0-1] b0;", stderr);
	char *all = memory_copy("");

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	difference_walk(from, to, note, &all);
	for (size_t i = 0; lines[i]; i++) {
		CU_ASSERT_PTR_NOT_NULL(strstr(all, lines[i]));
		if (!strstr(all, lines[i]))
			tap_note("no '%s' in:\n%s", lines[i], all);
	}
	free(all);
	pathmap_free(from);
	pathmap_free(to);
}

static void views(void)
{
	const char *const lines[] = {
		"v: b0 now runs `node sort`",
		"v: front now runs `all sort`",
		"v: reads stream of /**/p2p instead of stream of /**, for who opens it later",
		"w: is added",
		NULL,
	};

	differs("application demo { ranks rank[0-3]; view v { select /**/p2p; read stream; node "
		"sort; all sort; } view w { select /**; read latest; } }",
		cluster, mapping, lines, 7);
}

static void recordings(void)
{
	const char *const lines[] = {
		"p2p: element thread, capacity 500, mode count instead of element thread, capacity "
		"by "
		"memory, mode trace, for what starts later",
		NULL,
	};

	differs("application demo { ranks rank[0-3]; collect wait collective completion comm "
		"env rma io user pack; collect p2p { mode count; capacity 500; } view v { select "
		"/**; read stream; } }",
		cluster, mapping, lines, 1);
}

static void budgets(void)
{
	const char *const lines[] = {
		"consumers may slow a run down by 2.5 % together instead of anything",
		NULL,
	};

	differs("application demo { ranks rank[0-3]; budget 2.5%; view v { select /**; read "
		"stream; } }",
		cluster, mapping, lines, 1);
}

static void steering(void)
{
	static const char *const lines[] = {"collectives are steered along bcast<=4096=0(1)|2(3) "
					    "instead of nothing, as soon as the "
					    "ranks of a communicator agree"};

	differs(application, cluster, "entry front; place rank[0-3] on a[0-1] b[0-1]; steer bcast;",
		lines, 1);
}

/* ---- indexes ---- */

static uint32_t index_of(const struct plan_place *place, const char *node)
{
	if (strcmp(place->node, node) == 0)
		return place->index;
	for (size_t i = 0; i < place->n_children; i++) {
		uint32_t index = index_of(place->children[i], node);

		if (index != UINT32_MAX)
			return index;
	}
	return UINT32_MAX;
}

static struct plan *numbered(struct roster *roster, const struct pathmap *map, const char *view)
{
	struct plan *plan;

	CU_ASSERT_EQUAL_FATAL(plan_make(map, view, &plan, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(roster_number(roster, plan, NULL), 0);
	return plan;
}

static void indexes(void)
{
	static const char *const nodes_of[] = {"front", "ga", "a0", "a1", "b0", "b1"};
	struct roster *roster = roster_new();
	struct pathmap *from = first();
	struct pathmap *to =
		maps_make_of(application,
			     "cluster C { nodes c[0-1]; address c[0-1].example:1; }"
			     "cluster B { nodes b[0-1]; address b[0-1].example:1; }"
			     "cluster A { nodes a[0-1]; address a[0-1].example:1; gateway ga; }"
			     "node ga { address ga.example:1; } node front;",
			     "entry front; place rank[0-3] on c[0-1] b1 a1; tree flat;", stderr);
	struct plan *before, *after;

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	CU_ASSERT_EQUAL_FATAL(roster_fill(roster, from, NULL), 0);
	before = numbered(roster, from, "v");
	after = numbered(roster, to, "v");
	CU_ASSERT_EQUAL(index_of(before->root, "front"), 0);
	for (size_t i = 0; i < sizeof(nodes_of) / sizeof(nodes_of[0]); i++) {
		uint32_t index = index_of(after->root, nodes_of[i]);

		if (index != UINT32_MAX)
			CU_ASSERT_EQUAL(index, index_of(before->root, nodes_of[i]));
	}
	CU_ASSERT_EQUAL(index_of(after->root, "c0"), 6);
	CU_ASSERT_EQUAL(index_of(after->root, "c1"), 7);
	CU_ASSERT_EQUAL(roster_count(roster), 8);
	plan_free(after);
	after = numbered(roster, from, "events");
	CU_ASSERT_EQUAL(index_of(after->root, "b0"), index_of(before->root, "b0"));
	plan_free(before);
	plan_free(after);
	pathmap_free(from);
	pathmap_free(to);
	roster_free(roster);
}

static bool in_preorder(const struct plan *plan)
{
	uint32_t next = 0;

	PLAN_FOREACH (walk, plan->root) {
		if (walk.place->index != next++)
			return false;
	}
	return true;
}

/* Views of a part of the machine that stand before that of all do not tear its leaves apart. */
static void indexes_largest(void)
{
	struct roster *roster = roster_new();
	struct pathmap *map = maps_make_of(
		"application demo { ranks rank[0-3]; view one { select /A/a0/**; read latest; } "
		"view two { select /A/a0/** /B/b0/**; read latest; } view v { select /**; read "
		"latest; } "
		"}",
		cluster, mapping, stderr);
	struct plan *plan;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(roster_fill(roster, map, NULL), 0);
	plan = numbered(roster, map, "v");
	CU_ASSERT_TRUE(in_preorder(plan));
	plan_free(plan);
	plan = numbered(roster, map, "two");
	CU_ASSERT_FALSE(in_preorder(plan));
	plan_free(plan);
	pathmap_free(map);
	roster_free(roster);
}

static void indexes_end(void)
{
	struct roster *roster = roster_new();
	struct error e = {""};
	char name[16];

	for (unsigned i = 0; i < PLAN_PLACES; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		CU_ASSERT_EQUAL_FATAL(roster_add(roster, name, &e), 0);
	}
	CU_ASSERT_EQUAL(roster_add(roster, "n17", &e), 0);
	CU_ASSERT_EQUAL(roster_add(roster, "one", &e), -1);
	CU_ASSERT_EQUAL(errno, ENOSPC);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "8192"));
	roster_free(roster);
}

/* A copy that is given up leaves no trace; who starts anew has no room for nodes of old maps. */
static void indexes_are_free_again(void)
{
	static char gone[] = "gone", a0[] = "a0", free_one[] = "", b1[] = "b1";
	char *kept[] = {gone, a0, free_one, b1};
	struct roster *roster = roster_new(), *copy;
	struct pathmap *map = first();
	const struct pathmap *maps[2] = {map, NULL};

	CU_ASSERT_EQUAL(roster_restore(roster, kept, 4, maps, NULL), 0);
	CU_ASSERT_EQUAL(roster_count(roster), 4);
	CU_ASSERT_STRING_EQUAL(roster_nodes(roster)[0], "");
	CU_ASSERT_STRING_EQUAL(roster_nodes(roster)[1], "a0");
	CU_ASSERT_STRING_EQUAL(roster_nodes(roster)[3], "b1");
	copy = roster_copy(roster);
	CU_ASSERT_EQUAL(roster_add(copy, "x", NULL), 0);
	CU_ASSERT_EQUAL(roster_add(copy, "y", NULL), 0);
	CU_ASSERT_EQUAL(roster_add(copy, "z", NULL), 0);
	CU_ASSERT_STRING_EQUAL(roster_nodes(copy)[0], "x");
	CU_ASSERT_STRING_EQUAL(roster_nodes(copy)[2], "y");
	CU_ASSERT_STRING_EQUAL(roster_nodes(copy)[4], "z");
	roster_free(copy);
	CU_ASSERT_EQUAL(roster_count(roster), 4);
	CU_ASSERT_EQUAL(roster_add(roster, "b0", NULL), 0);
	CU_ASSERT_STRING_EQUAL(roster_nodes(roster)[0], "b0");
	roster_free(roster);
	pathmap_free(map);
}

/* ---- ranks ---- */

static void holdings(void)
{
	CU_ASSERT_TRUE(holding_has("0-7,12", 0));
	CU_ASSERT_TRUE(holding_has("0-7,12", 7));
	CU_ASSERT_FALSE(holding_has("0-7,12", 8));
	CU_ASSERT_TRUE(holding_has("0-7,12", 12));
	CU_ASSERT_FALSE(holding_has("10-17", 1));
	CU_ASSERT_TRUE(holding_has("all", 65535));
	CU_ASSERT_FALSE(holding_has("", 0));
	CU_ASSERT_FALSE(holding_has("nonsense", 0));
	CU_ASSERT_FALSE(holding_has("1-", 1));
}

static const struct plan_place *place_of(const struct plan_place *place, const char *node)
{
	const struct plan_place *found = strcmp(place->node, node) == 0 ? place : NULL;

	for (size_t i = 0; !found && i < place->n_children; i++)
		found = place_of(place->children[i], node);
	return found;
}

static void moved(void)
{
	struct pathmap *from = first();
	struct pathmap *to = maps_make_of(application, cluster,
					  "entry front; place rank[0-3] on a[0-1] b1 b0;", stderr);
	struct plan *plan;
	char node[20];

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	CU_ASSERT_EQUAL_FATAL(plan_make(from, "v", &plan, NULL), 0);
	holding_set(plan, from);
	holding_compare(plan, from, to);
	CU_ASSERT_STRING_EQUAL(place_of(plan->root, "a1")->holds, "1");
	CU_ASSERT_STRING_EQUAL(place_of(plan->root, "a1")->elsewhere, "");
	CU_ASSERT_STRING_EQUAL(place_of(plan->root, "b0")->holds, "2");
	CU_ASSERT_STRING_EQUAL(place_of(plan->root, "b0")->elsewhere, "2-2@b1");
	CU_ASSERT_TRUE(holding_other(place_of(plan->root, "b0")->elsewhere, 2, node, sizeof(node)));
	CU_ASSERT_STRING_EQUAL(node, "b1");
	CU_ASSERT_FALSE(
		holding_other(place_of(plan->root, "b0")->elsewhere, 3, node, sizeof(node)));
	CU_ASSERT_TRUE(holding_other("0-1,5@x;7-9@yz", 8, node, sizeof(node)));
	CU_ASSERT_STRING_EQUAL(node, "yz");
	CU_ASSERT_TRUE(holding_other("0-1,5@x;7-9@yz", 5, node, sizeof(node)));
	CU_ASSERT_STRING_EQUAL(node, "x");
	CU_ASSERT_FALSE(holding_other("0-1,5@x;7-9@yz", 6, node, sizeof(node)));
	plan_free(plan);
	pathmap_free(from);
	pathmap_free(to);
}

/* ---- texts ---- */

static void texts(void)
{
	struct pathmap_texts a = {NULL, NULL, NULL}, b = {NULL, NULL, NULL};
	struct pathmap *map;
	struct error e = {""};

	texts_local(&a, "here");
	map = texts_parse(&a, NULL, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_STRING_EQUAL(pathmap_entry(map), "here");
	CU_ASSERT_STRING_EQUAL(pathmap_rank_node(map, 17), "here");
	pathmap_free(map);
	CU_ASSERT_FALSE(texts_equal(&a, &b));
	texts_set(&b, a.application, a.cluster, "entry here;\nplace all on there;\n");
	CU_ASSERT_FALSE(texts_equal(&a, &b));
	CU_ASSERT_PTR_NULL(texts_parse(&b, NULL, &e));
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "mapping.map:2:"));
	texts_fini(&a);
	texts_fini(&b);
}

/* What is called like the keywords of the cluster map elsewhere is there without addresses, too. */
static void texts_hidden(void)
{
	struct pathmap_texts hidden = {NULL, NULL, NULL};
	struct pathmap *from, *to;
	struct error e = {""};

	texts_set(
		&hidden,
		"application demo { ranks any; "
		"view v { select /**; read stream; node sort; node median; } }",
		"cluster A { nodes address node; address [1-2].example:1; gateway g; "
		"deploy ssh { user u; } } node g { address g.example:1; deploy ssh; } node front;",
		"entry front; # g.example\ntree by-hand { g { address { node; } } }");
	from = texts_parse(&hidden, NULL, &e);
	CU_ASSERT_STRING_EQUAL(e.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(from);
	texts_hide(&hidden);
	CU_ASSERT_PTR_NULL(strstr(hidden.cluster, "example"));
	CU_ASSERT_PTR_NULL(strstr(hidden.cluster, "ssh"));
	CU_ASSERT_PTR_NULL(strstr(hidden.mapping, "example"));
	to = texts_parse(&hidden, NULL, &e);
	CU_ASSERT_STRING_EQUAL(e.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	pathmap_free(from);
	pathmap_free(to);
	texts_fini(&hidden);
}

static CU_TestInfo cases[] = {
	{"nothing differs", nothing},
	{"another shape", shape},
	{"nodes that come, go and move", nodes},
	{"views and their stages", views},
	{"what is collected", recordings},
	{"what consumers may spend", budgets},
	{"which collectives are steered", steering},
	{"a node has one index in all views and maps", indexes},
	{"indexes of the largest tree are in preorder", indexes_largest},
	{"indexes come to an end", indexes_end},
	{"indexes of nodes that are gone are free again", indexes_are_free_again},
	{"lists of ranks", holdings},
	{"ranks that another map puts elsewhere", moved},
	{"maps of texts", texts},
	{"texts without addresses", texts_hidden},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "difference", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
