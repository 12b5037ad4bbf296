/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which samples of a thread are kept, that all others are counted, and how the interval
 * adapts. */
#include "tests/random.h"
#include "tests/tap.h"

#include <string.h>

#include "node-agent/source/sieve.h"

static struct sampling defaults(void)
{
	struct sampling s;
	struct error e;

	CU_ASSERT_EQUAL(sampling_parse(&s, "", true, &e), 0);
	return s;
}

/* By operation, what kept samples count: themselves, and what they say was left out. */
static uint64_t profile[128];

/* The kept samples of @text, a letter each: '.' for one that is not. A @threshold of 0: the
 * default. */
static void kept_by(const char *text, unsigned window, double threshold, char *kept, uint64_t *left)
{
	struct sampling sampling = defaults();
	struct sieve_rule rule;
	struct sieve sieve = {.left = 0};
	struct tuple keep[2];
	uint64_t at = 0, n;
	bool changed;

	sampling.window = window;
	sampling.threshold = threshold;
	memset(profile, 0, sizeof(profile));
	sieve_rule_init(&rule, &sampling, 8);
	memset(kept, '.', strlen(text) + 1);
	kept[strlen(text)] = '\0';
	for (*left = 0; text[at]; at++) {
		struct tuple t = {.start = at + 1, .end = at + 1, .op = (uint16_t)text[at]};

		n = sieve_take(&sieve, &rule, &t, t.op, keep, &changed);
		for (uint64_t i = 0; i < n; i++) {
			kept[keep[i].start - 1] = (char)keep[i].op;
			*left += keep[i].bytes;
			profile[keep[i].op] += 1 + keep[i].bytes;
		}
		CU_ASSERT_EQUAL(changed, at == 0 || text[at] != text[at - 1]);
	}
	if (sieve_end(&sieve, keep)) {
		kept[keep[0].start - 1] = (char)keep[0].op;
		*left += keep[0].bytes;
		profile[keep[0].op] += 1 + keep[0].bytes;
	}
}

static void kept_of(const char *text, unsigned window, char *kept, uint64_t *left)
{
	kept_by(text, window, 0, kept, left);
}

static void the_first_and_the_last_are_kept(void)
{
	char kept[64];
	uint64_t left;

	kept_of("AAAAAAAABBBBBBBBBB", 2, kept, &left);
	CU_ASSERT_STRING_EQUAL(kept, "AA.....ABB.......B");
	CU_ASSERT_EQUAL(left, 12);
	kept_of("AAAAAAAABBBBBBBBBB", 4, kept, &left);
	CU_ASSERT_STRING_EQUAL(kept, "AAAA...ABBBB.....B");
	kept_of("ABABAB", 4, kept, &left);
	CU_ASSERT_STRING_EQUAL(kept, "ABABAB");
}

/* Kept and left out are all, and both ends of each segment are kept, whatever comes. */
static void nothing_goes_uncounted(void)
{
	uint64_t seed = 3, left;
	char text[4001] = "", kept[4001];

	for (int run = 0; run < 50; run++) {
		unsigned window = 2 + (unsigned)random_below(&seed, 15), n = 0;
		size_t length = 1 + random_below(&seed, sizeof(text) - 1);
		uint64_t rare = 1 + random_below(&seed, 2000);

		for (size_t i = 0; i < length; i++)
			text[i] = i == 0 || random_below(&seed, rare) == 0
					  ? (char)('A' + random_below(&seed, 4))
					  : text[i - 1];
		text[length] = '\0';
		kept_of(text, window, kept, &left);
		for (size_t i = 0; i < length; i++) {
			bool end = i == 0 || i == length - 1 || text[i] != text[i - 1] ||
				   text[i] != text[i + 1];

			n += kept[i] != '.';
			CU_ASSERT(!end || kept[i] == text[i]);
		}
		CU_ASSERT_EQUAL(n + left, length);
	}
}

/* What is kept says of each operation how many samples it had, whatever the threshold. */
static void the_profile_is_exact(void)
{
	static const double thresholds[] = {0, 1e-300, 1e-4, 1e-3, 1e-2, 0.05, 1};
	uint64_t seed = 5, left, truth[128];
	char text[3001] = "", kept[3001];

	for (int run = 0; run < 140; run++) {
		uint64_t rare = 1 + random_below(&seed, 40);

		memset(truth, 0, sizeof(truth));
		for (size_t i = 0; i < sizeof(text) - 1; i++) {
			text[i] = i == 0 || random_below(&seed, rare) == 0
					  ? (char)('A' + random_below(&seed, 4))
					  : text[i - 1];
			truth[(int)text[i]]++;
		}
		kept_by(text, 2 + (unsigned)run % 4, thresholds[run % 7], kept, &left);
		CU_ASSERT_EQUAL(memcmp(profile, truth, sizeof(truth)), 0);
	}
}

/* A file in shared memory may say anything. */
static void forged_counts_are_bounded(void)
{
	struct tuple samples[3] = {{.bytes = UINT64_MAX}, {.bytes = 7}, {.bytes = UINT64_MAX}};
	struct part part = {.read = 3};
	uint64_t sampled = 0;

	sieve_count(samples, 3, &part, &sampled);
	CU_ASSERT_EQUAL(sampled, 2 * SIEVE_LEFT_MOST + 7);
	CU_ASSERT_EQUAL(part.filtered, sampled);
	CU_ASSERT_EQUAL(part.read, 3 + sampled);
}

static void the_interval_adapts(void)
{
	struct sampling s = defaults();
	uint64_t ns = s.fastest_ns;

	for (int i = 0; i < 100; i++)
		ns = sieve_interval(&s, ns, false, 1000, 1);
	CU_ASSERT_EQUAL(ns, s.slowest_ns);
	CU_ASSERT_EQUAL(sieve_interval(&s, ns, true, 1000, 1), ns / 2);
	for (int i = 0; i < 20; i++)
		ns = sieve_interval(&s, ns, true, 1000, 1);
	CU_ASSERT_EQUAL(ns, s.fastest_ns);
	/* what costs 100 us may be done every 2 ms */
	CU_ASSERT_EQUAL(sieve_interval(&s, ns, true, 100000, 1), 2000000);
	/* even if that is longer than was asked for */
	CU_ASSERT_EQUAL(sieve_interval(&s, ns, true, 1000000, 1), 20000000);
	/* each of four runs four times as seldom */
	CU_ASSERT_EQUAL(sieve_interval(&s, ns, true, 100000, 4), 8000000);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"the first and the last of a segment are kept", the_first_and_the_last_are_kept},
		{"what is left out is counted", nothing_goes_uncounted},
		{"what is kept makes the exact profile", the_profile_is_exact},
		{"forged counts of what was left out are bounded", forged_counts_are_bounded},
		{"the interval adapts", the_interval_adapts},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {{.pName = "sieve", .pTests = cases}, CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
