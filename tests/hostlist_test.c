/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests host lists, lists of ranks, and quantities with units. */
#include "pathmap/model/hostlist.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tests/tap.h"

/* What the list stands for, with blanks between, the caller's to free. */
static char *expansion(const char *text)
{
	struct hostlist list = {0};
	char *joined = memory_copy("");
	size_t at;

	if (hostlist_add(&list, text, &at, NULL) < 0) {
		free(joined);
		return NULL;
	}
	for (size_t i = 0; i < list.n; i++) {
		char *longer = memory_format("%s%s%s", joined, i > 0 ? " " : "", list.names[i]);

		free(joined);
		joined = longer;
	}
	hostlist_fini(&list);
	return joined;
}

static void expansions(void)
{
	static const char *const lists[][2] = {
		{"w0", "w0"},
		{"w[0-3]", "w0 w1 w2 w3"},
		{"w[0-2,6]", "w0 w1 w2 w6"},
		{"w[6,0]", "w6 w0"},
		{"w[08-11]", "w08 w09 w10 w11"},
		{"w[0,007]x", "w0x w007x"},
		{"[1-2]", "1 2"},
		{"r[0-1]n[0-2]", "r0n0 r0n1 r0n2 r1n0 r1n1 r1n2"},
		{"127.0.0.1:[7450-7452]", "127.0.0.1:7450 127.0.0.1:7451 127.0.0.1:7452"},
		{"[::1]:[7450-7451]", "[::1]:7450 [::1]:7451"},
		{"[::1]:7450", "[::1]:7450"},
		{"w[0-1].[fe80::1]", "w0.[fe80::1] w1.[fe80::1]"},
		{"a[0-1],b0", "a0 a1 b0"},
		{"n[1-2,4],m,r[0-1]n[0-1]", "n1 n2 n4 m r0n0 r0n1 r1n0 r1n1"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		char *said = expansion(lists[i][0]);

		CU_ASSERT_PTR_NOT_NULL_FATAL(said);
		CU_ASSERT_STRING_EQUAL(said, lists[i][1]);
		free(said);
	}
}

static void faults(void)
{
	static const struct {
		const char *text;
		size_t at;
		const char *fault;
	} wrong[] = {
		{"w[7-0]", 2, "runs backwards; write `0-7`"},
		{"w[0-3", 5, "without its `]`"},
		{"w[", 2, "without its `]`"},
		{"w0]", 2, "without its `[`"},
		{"w[]", 2, "no number"},
		{"w[0,]", 4, "no number"},
		{"w[0-]", 4, "no number"},
		{"w[x]", 2, "no number"},
		{"w[-1]", 2, "no number"},
		{"w[0;1]", 3, "can follow a number"},
		{"w[1-02]", 4, "leading zeros"},
		{"w[0-9999999999]", 4, "more than 9 digits"},
		{"w[0-65536]", 2, "more than 65536 names"},
		{"w[0-255]n[0-256]", 10, "more than 65536 names"},
		{"w[0-999999999]", 2, "more than 65536 names"},
		{"w[0-60000,0-60000]", 10, "more than 65536 names"},
		{"a[1]b[1]c[1]d[1]e[1]", 17, "more than 4 brackets"},
		{"a[0-1],b[x]", 9, "no number"},
		{"a,,b", 2, "a comma without a name"},
		{"a,", 2, "a comma without a name"},
		{",a", 0, "a comma without a name"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct hostlist list = {0};
		struct error e = {""};
		size_t at = 999;

		hostlist_add(&list, "before", &at, NULL);
		CU_ASSERT_EQUAL(hostlist_add(&list, wrong[i].text, &at, &e), -1);
		if (at != wrong[i].at || strstr(e.text, wrong[i].fault) == NULL)
			tap_note("%s: %zu: %s", wrong[i].text, at, e.text);
		CU_ASSERT_EQUAL(at, wrong[i].at);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, wrong[i].fault));
		CU_ASSERT_EQUAL(list.n, 1);
		hostlist_fini(&list);
	}
}

static void largest(void)
{
	struct hostlist list = {0};
	size_t at;

	CU_ASSERT_EQUAL(hostlist_add(&list, "w[0-65535]", &at, NULL), 0);
	CU_ASSERT_EQUAL(list.n, HOSTLIST_MAX);
	CU_ASSERT_STRING_EQUAL(list.names[65535], "w65535");
	CU_ASSERT_EQUAL(hostlist_add(&list, "n[0-255]m[0-255]", &at, NULL), 0);
	CU_ASSERT_EQUAL(list.n, 2 * HOSTLIST_MAX);
	CU_ASSERT_STRING_EQUAL(list.names[HOSTLIST_MAX + 257], "n1m1");
	hostlist_fini(&list);
}

static void name_too_long(void)
{
	struct hostlist list = {0};
	char text[300];
	struct error e;
	size_t at;

	memset(text, 'a', sizeof(text));
	memcpy(text, "[8-11]", 6);
	text[6 + 254] = '\0';
	CU_ASSERT_EQUAL(hostlist_add(&list, text, &at, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "more than 255 characters"));
	CU_ASSERT_EQUAL(list.n, 0);
	text[6 + 253] = '\0';
	CU_ASSERT_EQUAL(hostlist_add(&list, text, &at, &e), 0);
	CU_ASSERT_EQUAL(list.n, 4);
	hostlist_fini(&list);
}

static void ranks(void)
{
	static const char *const wrong[] = {"rank",   "rank01", "rankx",     "Rank1",
					    "r1",     "rank-1", "rank65536", "rank99999999999",
					    "w[0-1]", ""};
	struct rank_list list = {0};
	struct error e;
	size_t at;

	CU_ASSERT_EQUAL(rank_list_add(&list, "rank[0-3]", &at, &e), 0);
	CU_ASSERT_EQUAL(rank_list_add(&list, "rank65535", &at, &e), 0);
	CU_ASSERT_EQUAL(list.n, 5);
	CU_ASSERT_EQUAL(list.ranks[3], 3);
	CU_ASSERT_EQUAL(list.ranks[4], 65535);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(rank_list_add(&list, wrong[i], &at, &e), -1);
	CU_ASSERT_EQUAL(rank_list_add(&list, "rank[3-1]", &at, &e), -1);
	CU_ASSERT_EQUAL(at, 5);
	CU_ASSERT_EQUAL(list.n, 5);
	free(list.ranks);
}

static void quantities(void)
{
	static const char *const no_time[] = {
		"",	"70", "us", "70 us", "-1us",   "1e3us", "1.2.3us",
		"70Us", ".",  "1w", "70us1", "99999d", "9e9",	"999999999999h"};
	static const struct {
		const char *text;
		uint64_t value;
	} times[] = {{"70us", 70000},
		     {"0.5\xc2\xb5s", 500},
		     {"500ms", 500000000},
		     {"5", 5000000000},
		     {"1.5", 1500000000},
		     {"90s", 90000000000},
		     {"10m", 600000000000},
		     {"1h", 3600000000000},
		     {"2d", 172800000000000},
		     {"17ns", 17},
		     {"0", 0}},
	  sizes[] = {{"4096", 4096},	  {"10k", 10240},    {"10K", 10240},   {"10kB", 10000},
		     {"10KiB", 10240},	  {"1MiB", 1048576}, {"1MB", 1000000}, {"1.5G", 1610612736},
		     {"2GB", 2000000000}, {"0B", 0}};
	static const char *const no_size[] = {"", "k", "10 k", "-1", "10T", "10kb", "99999999G"};
	double value;
	uint64_t whole;
	unsigned count;

	CU_ASSERT_EQUAL(quantity_bandwidth("100Mbit", &value, NULL), 0);
	CU_ASSERT_DOUBLE_EQUAL(value, 100e6, 1);
	CU_ASSERT_EQUAL(quantity_bandwidth("1.5Gbit/s", &value, NULL), 0);
	CU_ASSERT_DOUBLE_EQUAL(value, 1.5e9, 1);
	CU_ASSERT_EQUAL(quantity_bandwidth("100MB", &value, NULL), -1);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		CU_ASSERT_EQUAL(quantity_duration(times[i].text, QUANTITY_SECONDS, &whole, NULL),
				0);
		CU_ASSERT_EQUAL(whole, times[i].value);
	}
	for (size_t i = 0; i < sizeof(no_time) / sizeof(no_time[0]); i++)
		CU_ASSERT_EQUAL(quantity_duration(no_time[i], 0, &whole, NULL), -1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CU_ASSERT_EQUAL(quantity_bytes(sizes[i].text, &whole, NULL), 0);
		CU_ASSERT_EQUAL(whole, sizes[i].value);
	}
	for (size_t i = 0; i < sizeof(no_size) / sizeof(no_size[0]); i++)
		CU_ASSERT_EQUAL(quantity_bytes(no_size[i], &whole, NULL), -1);
	CU_ASSERT_EQUAL(quantity_count("200", 2, 200, &count, NULL), 0);
	CU_ASSERT_EQUAL(count, 200);
	CU_ASSERT_EQUAL(quantity_count("201", 2, 200, &count, NULL), -1);
	CU_ASSERT_EQUAL(quantity_count("1", 2, 200, &count, NULL), -1);
	CU_ASSERT_EQUAL(quantity_count("99999999999999999999999", 2, 200, &count, NULL), -1);
	CU_ASSERT_EQUAL(quantity_count("4294967295", 0, 4294967295u, &count, NULL), 0);
	CU_ASSERT_EQUAL(quantity_count("", 0, 200, &count, NULL), -1);
	CU_ASSERT_EQUAL(quantity_count("12a", 0, 200, &count, NULL), -1);
	CU_ASSERT_EQUAL(count, 4294967295u);
}

/* Names become short lists, which stand for these names again, in their order. */
static void texts(void)
{
	static const struct {
		const char *names[8];
		const char *text;
	} cases[] = {
		{{"vm"}, "vm"},
		{{"w0", "w1", "w2"}, "w[0-2]"},
		{{"w0", "w1", "w3", "w5", "w6"}, "w[0-1,3,5-6]"},
		{{"w2", "w1"}, "w[2,1]"},
		{{"w8", "w9", "w10", "w11"}, "w[8-11]"},
		{{"w08", "w09", "w10"}, "w[08-10]"},
		{{"w1", "w01"}, "w1 w01"},
		{{"w1", "w1"}, "w[1,1]"},
		{{"a0", "a1", "b0", "b1", "front"}, "a[0-1] b[0-1] front"},
		{{"r0n0", "r0n1", "r1n0"}, "r0n[0-1] r1n0"},
		{{"n1.x2.org", "n2.x2.org", "n3.x2.org"}, "n[1-3].x2.org"},
		{{"10.0.0.9:7440", "10.0.0.10:7440"}, "10.0.0.[9-10]:7440"},
		{{"w1a", "w2b"}, "w1a w2b"},
		{{"w", "w1"}, "w w1"},
		{{"w9999999998", "w9999999999"}, "w9999999998 w9999999999"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hostlist list = {0};
		size_t n = 0, at;
		struct error e;
		char *text, *rest, *word;

		while (n < 8 && cases[i].names[n])
			n++;
		text = hostlist_text(cases[i].names, n);
		CU_ASSERT_STRING_EQUAL(text, cases[i].text);
		for (rest = text; (word = strsep(&rest, " ")) != NULL;)
			CU_ASSERT_EQUAL(hostlist_add(&list, word, &at, &e), 0);
		CU_ASSERT_EQUAL_FATAL(list.n, n);
		for (size_t k = 0; k < n; k++)
			CU_ASSERT_STRING_EQUAL(list.names[k], cases[i].names[k]);
		hostlist_fini(&list);
		free(text);
	}
}

static CU_TestInfo hostlist_cases[] = {
	{"what lists stand for", expansions},	    {"short lists of names", texts},
	{"malformed lists: where and why", faults}, {"the largest lists", largest},
	{"names that get too long", name_too_long}, {"lists of ranks", ranks},
	{"quantities with units", quantities},	    CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "hostlist", .pTests = hostlist_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
