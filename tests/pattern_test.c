/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests name patterns: what they match, reach and refuse, and a model of matching to compare with.
 */
#include "pathmap/model/pattern.h"
#include "pathmap/base/wildcard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/hostlist.h"
#include "tests/random.h"
#include "tests/tap.h"

struct match {
	const char *pattern, *name;
	bool matches;
};

static void match_all(const struct match *matches, bool (*match)(const char *, const char *))
{
	for (; matches->pattern != NULL; matches++) {
		if (match(matches->pattern, matches->name) == matches->matches)
			continue;
		tap_note("%s and %s", matches->pattern, matches->name);
		CU_FAIL("should be the other way");
	}
}

static void plain_names(void)
{
	static const struct match matches[] = {
		{"/4W/w0/rank3/t0/p2p", "/4W/w0/rank3/t0/p2p", true},
		{"/4W/w0/rank3/t0/p2p", "/4W/w0/rank3/t0/p2", false},
		{"/4W/w0/rank3/t0/p2", "/4W/w0/rank3/t0/p2p", false},
		{"/4W/w0/rank3/t0", "/4W/w0/rank3/t0/p2p", false},
		{"/4W/w0/rank3/t0/p2p", "/4W/w0/rank3/t0", false},
		{"/4w/w0/rank3/t0/p2p", "/4W/w0/rank3/t0/p2p", false},
		{"/", "/", true},
		{"/", "/4W", false},
		{"/4W", "4W", false},
		{"/4W", "", false},
		{0},
	};

	match_all(matches, pattern_match);
}

static void wildcards_in_a_part(void)
{
	static const struct match matches[] = {
		{"/*", "/4W", true},
		{"/*", "/4W/w0", false},
		{"/*", "/", false},
		{"/4*", "/4W", true},
		{"/4W*", "/4W", true},
		{"/*W", "/4W", true},
		{"/*W*", "/4W", true},
		{"/*4*4", "/4W4W4", true},
		{"/a*b*c", "/axxbxxbxxc", true},
		{"/a*b*c", "/axxbxxbxx", false},
		{"/?W", "/4W", true},
		{"/??", "/4W", true},
		{"/?", "/4W", false},
		{"/???", "/4W", false},
		{"/*/w?/*", "/4W/w0/rank3", true},
		{"/*/w?/*", "/4W/w10/rank3", false},
		{0},
	};

	match_all(matches, pattern_match);
}

static void numbers_in_brackets(void)
{
	static const struct match matches[] = {
		{"/rank[0-7]", "/rank0", true},	  {"/rank[0-7]", "/rank7", true},
		{"/rank[0-7]", "/rank8", false},  {"/rank[0-7]", "/rank10", false},
		{"/rank[0-7]", "/rank", false},	  {"/rank[0-7]", "/rank07", false},
		{"/rank[0-7]", "/rank3a", false}, {"/rank[8-12]", "/rank10", true},
		{"/rank[0-3,8]", "/rank8", true}, {"/rank[0-3,8]", "/rank5", false},
		{"/w[00-15]", "/w07", true},	  {"/w[00-15]", "/w7", false},
		{"/w[08-10]", "/w10", true},	  {"/w1[0-9]", "/w12", true},
		{"/r[0-1]n[2-3]", "/r1n2", true}, {"/r[0-1]n[2-3]", "/r2n2", false},
		{"/*[0-7]", "/rank3", true},	  {"/*[0-7]", "/rank13", false},
		{"/*[10-20]", "/rank13", true},	  {"/[0-7]*", "/3W", true},
		{"/[0-7]*", "/12W", false},	  {0},
	};

	match_all(matches, pattern_match);
}

static void any_number_of_parts(void)
{
	static const struct match matches[] = {
		{"/**", "/", true},
		{"/**", "/4W/w0/rank3/t0/p2p", true},
		{"/4W/**", "/4W", true},
		{"/4W/**", "/4W/w0", true},
		{"/4W/**", "/8W/e0", false},
		{"/**/p2p", "/4W/w0/rank3/t0/p2p", true},
		{"/**/p2p", "/p2p", true},
		{"/**/p2p", "/4W/w0/rank3/t0/wait", false},
		{"/**/rank[0-3]/**", "/4W/w0/rank3/t0/p2p", true},
		{"/**/rank[0-3]/**", "/4W/w0/rank4/t0/p2p", false},
		{"/**/**/p2p", "/p2p", true},
		{"/**/a/**/b", "/a/x/a/b", true},
		{"/**/a/**/b", "/a/x/a/c", false},
		{0},
	};

	match_all(matches, pattern_match);
}

static void elements_of_split_channels(void)
{
	static const struct match matches[] = {
		{"/**/p2p", "/4W/w0/rank3/t0/p2p.MPI_Send", true},
		{"/**/p2p", "/4W/w0/rank3/t0/p2p@2b6c01fe", true},
		{"/**/p2p", "/4W/w0/rank3/t0/p2p:main.c:12", true},
		{"/**/p2p", "/-/w0/rank3/t0/p2p:libx.so.1+0x4f", true},
		{"/**/t0/*", "/4W/w0/rank3/t0/p2p:main.c:12", true},
		{"/4W/w0/rank3/t0/p2p", "/4W/w0/rank3/t0/p2p:main.c:12", true},
		{"/**/p2", "/4W/w0/rank3/t0/p2p.MPI_Send", false},
		{"/**/wait", "/4W/w0/rank3/t0/p2p.MPI_Send", false},
		{"/**/p2p.MPI_Send", "/4W/w0/rank3/t0/p2p.MPI_Send", true},
		{"/**/p2p.MPI_Send", "/4W/w0/rank3/t0/p2p.MPI_Ssend", false},
		{"/**/p2p.MPI_Send", "/4W/w0/rank3/t0/p2p", false},
		{"/**/p2p.*send", "/4W/w0/rank3/t0/p2p.MPI_Isend", true},
		{"/**/p2p@*", "/4W/w0/rank3/t0/p2p@2b6c01fe", true},
		{"/**/p2p:*", "/4W/w0/rank3/t0/p2p@2b6c01fe", false},
		{"/**/p2p:main.c:[10-19]", "/4W/w0/rank3/t0/p2p:main.c:12", true},
		{"/**/p2p:main.c:[1-9]", "/4W/w0/rank3/t0/p2p:main.c:12", false},
		/* only channels have something behind them */
		{"/4W/w0", "/4W/w0.example", false},
		{"/**/rank3/**", "/4W/w0/rank3.4711/t0/p2p", false},
		{0},
	};

	match_all(matches, pattern_match);
	CU_ASSERT_EQUAL(pattern_check("/**/p2p:main.c:12", NULL), 0);
	CU_ASSERT_EQUAL(pattern_check("/**/p2p:?+0x4f", NULL), 0);
	CU_ASSERT_TRUE(pattern_reaches("/**/p2p:main.c:12", "/4W/w0/rank3"));
	CU_ASSERT_TRUE(pattern_reaches("/4W/**/p2p.MPI_Send", "/4W/w0"));
	CU_ASSERT_FALSE(pattern_reaches("/4W/**/p2p.MPI_Send", "/8W/e0"));
	CU_ASSERT_EQUAL(name_part_check("w0:1", NULL), -1);
}

static void reach_of_a_beginning(void)
{
	static const struct match matches[] = {
		{"/**", "/", true},
		{"/**", "/4W/w0/rank3", true},
		{"/4W/**", "/", true},
		{"/4W/**", "/4W/w0", true},
		{"/4W/**", "/8W", false},
		{"/4W/*", "/4W/w0", false}, /* elements have five parts */
		{"/4W", "/4W", false},
		{"/*/*/*/*/*", "/4W/w0", true},
		{"/*/*/*/*/*/*", "/4W/w0", false},
		{"/**/rank7/**", "/4W/w0", true},
		{"/**/rank7/**", "/4W/w0/rank7", true},
		{"/**/rank7/**", "/4W/w0/rank0", false},
		{"/**/rank[0-3]/**", "/4W/w0/rank7", false},
		{"/**/rank[0-3]/**", "/4W/w0", true},
		{"/**/r*/t*/*", "/4W/w0", true},
		{"/**/t[1-2]/*", "/4W/w0/rank7", true},
		{"/**/t1/*/*", "/4W/w0/rank7", false},
		{"/**/tx*/*", "/4W/w0/rank7", false},
		{"/*/*/t*/**", "/4W/w0", false},
		{"/4W/w0/rank3/t0/p2p", "/4W/w0/rank3", true},
		{"/4W/w0/rank3/p2p/t0", "/4W/w0/rank3", false},
		{"/**/t1/p2p", "/4W/w0/rank3", true},
		{"/**/t1", "/4W/w0/rank3", false},
		{"/**/p2p", "/4W/w0/rank3", true},
		{"/8W/**/p2p", "/4W/w0/rank3", false},
		{"4W", "/4W", false},
		{0},
	};

	match_all(matches, pattern_reaches);
}

static void malformed_patterns(void)
{
	static const struct {
		const char *pattern;
		size_t offset;
		const char *text;
	} faults[] = {
		{"", 0, "begins with `/`"},	  {"4W/**", 0, "begins with `/`"},
		{"/4W//w0", 4, "empty part"},	  {"/4W/", 4, "empty part"},
		{"//", 1, "empty part"},	  {"/a**", 2, "whole parts"},
		{"/**a", 1, "whole parts"},	  {"/w[", 3, "without its `]`"},
		{"/w[0-3", 6, "without its `]`"}, {"/w[]", 3, "no number"},
		{"/w[a-b]", 3, "no number"},	  {"/w[7-0]", 3, "backwards"},
		{"/w[0-]", 5, "no number"},	  {"/w[0,]", 5, "no number"},
		{"/w[0 ]", 4, "can follow"},	  {"/w]", 2, "cannot be in a pattern"},
		{"/w{0}", 2, "cannot be"},	  {"/w[01-2]", 5, NULL},
		{"/w[1-02]", 5, "leading zeros"}, {"/w[10000000000]", 3, "more than 9 digits"},
	};
	struct error e;
	size_t offset;

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		int result = pattern_check_at(faults[i].pattern, &offset, &e);

		if (faults[i].text == NULL) {
			CU_ASSERT_EQUAL(result, 0);
			continue;
		}
		CU_ASSERT_EQUAL(result, -1);
		if (result == 0 || strstr(e.text, faults[i].text) == NULL)
			tap_note("%s: %s", faults[i].pattern, result == 0 ? "accepted" : e.text);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, faults[i].text));
		if (strstr(faults[i].text, "more than") == NULL)
			CU_ASSERT_EQUAL(offset, faults[i].offset);
		CU_ASSERT_FALSE(pattern_match(faults[i].pattern, "/4W/w0"));
	}
	CU_ASSERT_EQUAL(pattern_check("/w[7-0]", &e), -1);
	CU_ASSERT_STRING_EQUAL(e.text, "pattern `/w[7-0]`, character 4: the range runs backwards; "
				       "write `0-7`");
}

static void lengths(void)
{
	char pattern[NAME_BYTES + 2];

	memset(pattern, 'x', sizeof(pattern));
	pattern[0] = '/';
	pattern[NAME_BYTES - 1] = '\0';
	CU_ASSERT_EQUAL(pattern_check(pattern, NULL), 0);
	CU_ASSERT_TRUE(pattern_match(pattern, pattern));
	pattern[NAME_BYTES - 1] = 'x';
	pattern[NAME_BYTES] = '\0';
	CU_ASSERT_EQUAL(pattern_check(pattern, NULL), -1);
}

static void part_names(void)
{
	static const char *const wrong[] = {"",	   "-a", ".a",	     "_a", "a/b",
					    "a b", "a*", "\xc3\xa6", "a\n"};
	char longest[NAME_PART_MAX + 2];

	CU_ASSERT_EQUAL(name_part_check("4W", NULL), 0);
	CU_ASSERT_EQUAL(name_part_check("w0.example-x_y", NULL), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(name_part_check(wrong[i], NULL), -1);
	memset(longest, 'a', sizeof(longest));
	longest[NAME_PART_MAX] = '\0';
	CU_ASSERT_EQUAL(name_part_check(longest, NULL), 0);
	longest[NAME_PART_MAX] = 'a';
	longest[NAME_PART_MAX + 1] = '\0';
	CU_ASSERT_EQUAL(name_part_check(longest, NULL), -1);
}

/* Matching as one would explain it: try everything. No brackets. */
static bool model_match(const char *pattern, const char *name)
{
	if (strncmp(pattern, "/**", 3) == 0 && (pattern[3] == '/' || pattern[3] == '\0')) {
		const char *next = name;

		if (model_match(pattern + 3, name))
			return true;
		if (*name != '/')
			return false;
		next++;
		while (*next != '/' && *next != '\0')
			next++;
		return model_match(pattern, next);
	}
	if (*pattern == '\0')
		return *name == '\0';
	if (*pattern == '*')
		return model_match(pattern + 1, name) ||
		       (*name != '\0' && *name != '/' && model_match(pattern, name + 1));
	if (*pattern == '?')
		return *name != '\0' && *name != '/' && model_match(pattern + 1, name + 1);
	return *pattern == *name && model_match(pattern + 1, name + 1);
}

static void path_draw(uint64_t *seed, char *path, const char *letters, size_t parts)
{
	size_t n = 0;

	for (size_t i = 0; i < parts; i++) {
		size_t length = 1 + random_below(seed, 3);

		path[n++] = '/';
		for (size_t j = 0; j < length; j++)
			path[n++] = letters[random_below(seed, (uint32_t)strlen(letters))];
	}
	path[n] = '\0';
}

static void as_the_model(void)
{
	uint64_t seed = 11;
	char pattern[64], name[64];
	unsigned matches = 0;

	for (unsigned i = 0; i < 200000; i++) {
		bool expected;

		path_draw(&seed, pattern, "ab*?**", 1 + random_below(&seed, 4));
		path_draw(&seed, name, "ab", 1 + random_below(&seed, 4));
		if (pattern_check(pattern, NULL) < 0)
			continue;
		expected = model_match(pattern, name);
		matches += expected;
		if (pattern_match(pattern, name) != expected) {
			tap_note("%s and %s", pattern, name);
			CU_FAIL("not as the model");
			return;
		}
	}
	CU_ASSERT_TRUE(matches > 1000);
}

/* What a host list stands for is what the same text matches as a pattern. */
static void as_host_lists(void)
{
	static const char *const lists[] = {"w[0-12]",	      "w[00-12]", "w[3,7-9,20]",
					    "r[0-2]n[08-11]", "w1[0-3]",  "[5-6]x"};
	char pattern[64], name[NAME_BYTES + 1];
	size_t at;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct hostlist list = {0};
		size_t matched = 0;

		snprintf(pattern, sizeof(pattern), "/%s", lists[i]);
		CU_ASSERT_EQUAL_FATAL(hostlist_add(&list, lists[i], &at, NULL), 0);
		for (size_t j = 0; j < list.n; j++) {
			snprintf(name, sizeof(name), "/%s", list.names[j]);
			matched += pattern_match(pattern, name);
		}
		CU_ASSERT_EQUAL(matched, list.n);
		hostlist_fini(&list);
	}
}

/* A text of @part @times over, between @head and @tail. */
static void repeat(char text[NAME_BYTES], const char *head, const char *part, size_t times,
		   const char *tail)
{
	int n;

	CU_ASSERT_FATAL(strlen(head) + times * strlen(part) + strlen(tail) < NAME_BYTES);
	n = snprintf(text, NAME_BYTES, "%s", head);
	for (size_t i = 0; i < times; i++)
		n += snprintf(text + n, NAME_BYTES - (size_t)n, "%s", part);
	snprintf(text + n, NAME_BYTES - (size_t)n, "%s", tail);
}

/* A pattern made to go back and forth is still matched at once. */
static void hostile_patterns(void)
{
	char pattern[NAME_BYTES], name[NAME_BYTES];

	repeat(pattern, "/", "*a", 120, "b");
	repeat(name, "/", "a", 250, "");
	CU_ASSERT_FALSE(pattern_match(pattern, name));
	repeat(pattern, "", "/**", 80, "/b");
	repeat(name, "", "/a", 120, "");
	CU_ASSERT_FALSE(pattern_match(pattern, name));
}

/* Ends are numbered by parts. */
static void ends_after_a_node(void)
{
	CU_ASSERT_EQUAL(pattern_ends("/A/w0/rank0/t0/p2p", "/A/w0"), 1u << 2);
	CU_ASSERT_EQUAL(pattern_ends("/A/**/p2p", "/A/w0"), 1u << 1);
	CU_ASSERT_EQUAL(pattern_ends("/B/**/p2p", "/A/w0"), 0);
	CU_ASSERT_EQUAL(pattern_ends("/**/p2p", "/A/w0"), 1u << 0);
	CU_ASSERT_EQUAL(pattern_ends("/**/w[0-3]/**/t0/*", "/A/w2"), 1u << 0 | 1u << 2);
	CU_ASSERT_EQUAL(pattern_ends("/A/w0", "/A/w0"), 0);
	CU_ASSERT_STRING_EQUAL(pattern_end("/A/w0/rank0/t0/p2p", 2), "/rank0/t0/p2p");
	CU_ASSERT_STRING_EQUAL(pattern_end("/**/p2p", 0), "/**/p2p");
}

static void wildcards_of_functions(void)
{
	static const struct match matches[] = {
		{"solve", "solve", true},
		{"solve", "solver", false},
		{"solve*", "solve", true},
		{"*", "", true},
		{"?", "", false},
		{"s?l*e", "solve_more", true},
		{"*a*b", "xxaxxbxxa", false},
		{"*a*b", "xxaxxbxxb", true},
		{"a,b*,c", "bcd", true},
		{"a,b*,c", "cc", false},
		{"*a*a*a*a*a*a*a*a*a*a*a*b,x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 false},
		{.pattern = NULL},
	};

	match_all(matches, wildcard_list_match);
	CU_ASSERT_TRUE(wildcard_match("f*", "f,g"));
	CU_ASSERT_FALSE(wildcard_is("exchange"));
}

static CU_TestInfo pattern_cases[] = {
	{"names without wildcards", plain_names},
	{"* and ? stay within a part", wildcards_in_a_part},
	{"numbers in brackets", numbers_in_brackets},
	{"** stands for any number of parts", any_number_of_parts},
	{"elements of split channels, all and one", elements_of_split_channels},
	{"what a pattern reaches below a name", reach_of_a_beginning},
	{"malformed patterns: where and why", malformed_patterns},
	{"the longest pattern", lengths},
	{"names of clusters and nodes", part_names},
	{"200,000 random matches agree with a model", as_the_model},
	{"brackets match what host lists stand for", as_host_lists},
	{"hostile patterns are matched at once", hostile_patterns},
	{"what may follow a node", ends_after_a_node},
	{"functions by lists and wildcards", wildcards_of_functions},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "pattern", .pTests = pattern_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
