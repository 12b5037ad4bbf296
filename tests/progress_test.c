/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what long work says of itself on a terminal: how much, how fast, which share, how long yet.
 */
#include "consumers/keep/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/status-line.h"
#include "tests/tap.h"
#include "tree/data/clock.h"

#define LIMIT_NS UINT64_C(20000000000)

static int kept_stderr = -1;

/* From now on stderr is @fd. */
static void stderr_is(int fd)
{
	fflush(stderr);
	kept_stderr = dup(STDERR_FILENO);
	CU_ASSERT_FATAL(kept_stderr >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
}

static void stderr_again(void)
{
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
}

/* The master of a terminal that stderr is. */
static int terminal_open(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), fd;

	CU_ASSERT_FATAL(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	CU_ASSERT_FATAL(fd >= 0 && fcntl(master, F_SETFL, O_NONBLOCK) == 0);
	stderr_is(fd);
	return master;
}

/* What stands on the line now; "": nothing more was written. */
static const char *line_of(int fd)
{
	static char text[4096];
	ssize_t n = read(fd, text, sizeof(text) - 1);
	char *last;

	text[n > 0 ? n : 0] = '\0';
	last = strrchr(text, '\r');
	return last ? last + strspn(last, "\r\033[K") : text;
}

static double seconds_of(const char *text, const char *unit)
{
	double n = strtod(text, NULL);

	return strcmp(unit, "ms") == 0 ? n * 1e-3 : strcmp(unit, "us") == 0 ? n * 1e-6 : n;
}

/* A quarter is done, of work that goes on at the same rate. */
static void a_quarter(void)
{
	struct read_progress p = {0};
	int fd = terminal_open();
	uint64_t begun = clock_mono_ns(), now;
	char number[32], left[32], unit[8];
	const char *line;
	double rate, share, took;

	do {
		progress_show(&p, "tuples copied", 12345, 0.25);
		now = clock_mono_ns();
		line = line_of(fd);
	} while (!*line && now - begun < LIMIT_NS);
	stderr_again();
	took = (double)(now - begun) * 1e-9;
	CU_ASSERT_FATAL(sscanf(line, "%31s tuples copied, %lf a second, %lf %%, %31s %7s left",
			       number, &rate, &share, left, unit) == 5);
	CU_ASSERT_STRING_EQUAL(number, "12,345");
	CU_ASSERT(share == 25);
	/* it may have been told a bit before we look */
	CU_ASSERT(rate >= 12345 / took && rate < 12345 / took * 1.5);
	CU_ASSERT(fabs(seconds_of(left, unit) - 3 * 12345 / rate) < 0.02 * 3 * 12345 / rate);
	close(fd);
}

/* Without a share there is no rest to be told; another work begins anew. */
static void no_share(void)
{
	struct read_progress p = {0};
	int fd = terminal_open();
	uint64_t begun = clock_mono_ns(), again;
	const char *line;

	do {
		progress_show(&p, "events read", 7, -1);
		line = line_of(fd);
	} while (!*line && clock_mono_ns() - begun < LIMIT_NS);
	CU_ASSERT(strncmp(line, "7 events read, ", 15) == 0 && strstr(line, " a second"));
	CU_ASSERT(!strchr(line, '%') && !strstr(line, "left"));
	again = clock_mono_ns();
	do {
		progress_show(&p, "events written", 3, 0.5);
		line = line_of(fd);
	} while (!*line && clock_mono_ns() - again < LIMIT_NS);
	CU_ASSERT(strncmp(line, "3 events written, ", 18) == 0 && clock_mono_ns() - again > 1e8);
	status_line_clear();
	CU_ASSERT_STRING_EQUAL(line_of(fd), "");
	stderr_again();
	close(fd);
}

/* Nothing in a file, or a pipe. */
static void no_terminal(void)
{
	struct read_progress p = {0};
	uint64_t begun = clock_mono_ns();
	int ends[2];
	char byte;

	CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK) == 0);
	stderr_is(ends[1]);
	while (clock_mono_ns() - begun < 700000000)
		progress_show(&p, "tuples copied", 12345, 0.25);
	CU_ASSERT(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
	stderr_again();
	close(ends[0]);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"how much, how fast, which share, how long yet", a_quarter},
		{"where no share is known, and another work begins", no_share},
		{"nothing where there is no terminal", no_terminal},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "progress", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
