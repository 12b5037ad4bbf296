/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests clocks: pairs, lines through them, and conversions of any number of ticks. */
#include "tree/data/clock-host.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

static void ticks_grow(void)
{
	enum clock_kind kind = clock_kind();
	uint64_t last = clock_ticks(kind);

	CU_ASSERT_TRUE(kind == CLOCK_TICKS_TSC || kind == CLOCK_TICKS_MONO);
	CU_ASSERT_EQUAL(clock_kind(), kind);
	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_ticks(kind);

		CU_ASSERT_TRUE(now >= last);
		last = now;
	}
}

/* What the line says of now is between two readings of the clock, but for its error. */
static void now_is_now(enum clock_kind kind)
{
	struct clock_pair early = clock_pair_take(kind), late = early;
	struct clock_line line;
	uint64_t before, ticks, after;
	int64_t ns;

	while (late.mono_ns - early.mono_ns < 5000000)
		late = clock_pair_take(kind);
	line = clock_line_through(kind, early, late, 0);
	before = clock_mono_ns();
	ticks = clock_ticks(kind);
	after = clock_mono_ns();
	ns = clock_line_ns(&line, ticks);
	CU_ASSERT_TRUE((double)ns >= (double)before - line.error_ns - 1000);
	CU_ASSERT_TRUE((double)ns <= (double)after + line.error_ns + 1000);
}

static void line_of_this_host(void)
{
	now_is_now(clock_kind());
	now_is_now(CLOCK_TICKS_MONO);
}

static const struct clock_pair early = {1000000, 5000000000};

static struct clock_pair later(uint64_t ticks, uint64_t ns)
{
	return (struct clock_pair){early.ticks + ticks, early.mono_ns + ns};
}

static void exact_line(void)
{
	/* 2.5 ticks a nanosecond, ten seconds */
	struct clock_line line =
		clock_line_through(CLOCK_TICKS_TSC, early, later(25000000000, 10000000000), 700);

	CU_ASSERT_DOUBLE_EQUAL(line.ns_per_tick, 0.4, 1e-12);
	CU_ASSERT_EQUAL(clock_line_ns(&line, early.ticks), 5000000700);
	CU_ASSERT_EQUAL(clock_line_ns(&line, early.ticks + 25000000000), 15000000700);
	CU_ASSERT_EQUAL(clock_line_ns(&line, early.ticks + 50000000000), 25000000700);
	CU_ASSERT_EQUAL(clock_line_ns(&line, early.ticks - 250), 5000000600);
	CU_ASSERT_EQUAL(clock_line_ticks(&line, 5000000700), early.ticks);
	CU_ASSERT_EQUAL(clock_line_ticks(&line, 5000000600), early.ticks - 250);
}

static void error_of_close_pairs(void)
{
	struct clock_line far =
		clock_line_through(CLOCK_TICKS_TSC, early, later(25000000000, 10000000000), 0);
	struct clock_line close = clock_line_through(CLOCK_TICKS_TSC, early, later(2500, 1000), 0);
	struct clock_line same = clock_line_through(CLOCK_TICKS_TSC, early, early, 0);

	CU_ASSERT_TRUE(far.error_ns > 0 && far.error_ns < 1000);
	CU_ASSERT_TRUE(close.error_ns > 1000 * far.error_ns);
	CU_ASSERT_TRUE(same.error_ns > 1e9);
	CU_ASSERT_TRUE(isfinite(same.error_ns));
}

/* Ticks out of a damaged ring end somewhere, not in an overflow. */
static void any_ticks(void)
{
	struct clock_line line = {INT64_MAX - 5, 77, 3.7, 1};
	static const uint64_t ticks[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};

	for (unsigned i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
		clock_line_ns(&line, ticks[i]);
	line.ns_per_tick = 1e30;
	CU_ASSERT_TRUE(clock_line_ns(&line, 78) > 0);
	CU_ASSERT_TRUE(clock_line_ns(&line, 76) < 0);
	line.ns_per_tick = 1e-30;
	CU_ASSERT_EQUAL(clock_line_ticks(&line, INT64_MAX), 77 + (uint64_t)9e18);
	CU_ASSERT_EQUAL(clock_line_ticks(&line, INT64_MIN), 77 - (uint64_t)9e18);
}

static bool trusts(const char *sources)
{
	char folder[] = "/tmp/evspace-clock.XXXXXX", path[64];
	bool trusted;
	FILE *file;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/available_clocksource", folder);
	file = sources ? fopen(path, "w") : NULL;
	if (file) {
		fputs(sources, file);
		fclose(file);
	}
	trusted = clock_trusts_tsc(folder);
	unlink(path);
	rmdir(folder);
	return trusted;
}

static void kernel_mistrusts(void)
{
	CU_ASSERT_TRUE(trusts(CLOCK_SOURCE " hpet acpi_pm \n"));
	CU_ASSERT_TRUE(trusts("kvm-clock " CLOCK_SOURCE "\n"));
	CU_ASSERT_FALSE(trusts("hpet acpi_pm \n"));
	CU_ASSERT_FALSE(trusts("tsc-early hyperv_clocksource_tsc_page\n"));
	/* nobody says anything, as in some containers */
	CU_ASSERT_TRUE(trusts(""));
	CU_ASSERT_TRUE(trusts(NULL));
	if (!clock_trusts_tsc(CLOCK_SOURCES))
		CU_ASSERT_EQUAL(clock_kind(), CLOCK_TICKS_MONO);
}

static void host_sleeps(void)
{
	const struct clock_pair born = {1000, 5000}, older = {500, 4000};
	const struct clock_pair woke = {7, 9000000}, later = {100000, 9500000};
	struct clock_host host = {.born = born, .slept_ns = 12345};

	CU_ASSERT_EQUAL(clock_host_older(&host, host.born, older).ticks, older.ticks);
	CU_ASSERT_EQUAL(clock_host_older(&host, host.born, later).ticks, born.ticks);
	/* readings differ by a little */
	CU_ASSERT_EQUAL(clock_host_check(&host, 1012345, later), 0);
	CU_ASSERT_EQUAL(clock_host_check(&host, 0, later), 0);
	CU_ASSERT_EQUAL(host.born.ticks, born.ticks);
	/* for an hour; the ticks began anew */
	CU_ASSERT_EQUAL(clock_host_check(&host, 3600000012345, woke), 3600000000000);
	CU_ASSERT_EQUAL(host.born.ticks, woke.ticks);
	CU_ASSERT_EQUAL(clock_host_older(&host, host.born, older).ticks, woke.ticks);
	CU_ASSERT_EQUAL(clock_host_check(&host, 3600000012345, later), 0);
	CU_ASSERT_EQUAL(host.born.ticks, woke.ticks);
}

static void boot_id(void)
{
	char id[40], again[40], cut[5];

	CU_ASSERT_EQUAL(strlen(clock_boot_id(id, sizeof(id))), 36);
	CU_ASSERT_STRING_EQUAL(clock_boot_id(again, sizeof(again)), id);
	CU_ASSERT_EQUAL(strlen(clock_boot_id(cut, sizeof(cut))), 4);
}

static CU_TestInfo clock_cases[] = {
	{"ticks never go back", ticks_grow},
	{"a line through this host's clock says what time it is", line_of_this_host},
	{"a line through two pairs", exact_line},
	{"pairs that are close give a large error", error_of_close_pairs},
	{"any number of ticks is converted to something", any_ticks},
	{"a TSC that the kernel has found unstable is not trusted", kernel_mistrusts},
	{"a host that was suspended: its clock begins anew", host_sleeps},
	{"the boot id", boot_id},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "clock", .pTests = clock_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
