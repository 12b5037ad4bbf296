/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what benches say of processes that end while they are needed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/tap.h"

static char folder[] = "/tmp/evspace-bench-test.XXXXXX";

/* Wait for less than @seconds while stderr goes to the file @said. */
static int wait_aside(const char *said, double seconds, struct error *e)
{
	int was = dup(STDERR_FILENO), fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600), result;

	CU_ASSERT_TRUE_FATAL(was >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	result = bench_wait(seconds, e);
	fflush(stderr);
	dup2(was, STDERR_FILENO);
	close(was);
	close(fd);
	return result;
}

static void last_words(void)
{
	char shell[] = "/bin/sh", option[] = "-c",
	     words[] = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo line $i; done; exit 3";
	char *argv[] = {shell, option, words, NULL};
	char log[64], said[64], text[1024] = "";
	struct error e = {""};
	FILE *file;
	pid_t pid;

	snprintf(log, sizeof(log), "%s/log", folder);
	snprintf(said, sizeof(said), "%s/said", folder);
	pid = bench_start(argv, log, &e);
	CU_ASSERT_TRUE_FATAL(pid > 0);
	CU_ASSERT_EQUAL(wait_aside(said, 60, &e), -1);
	CU_ASSERT_EQUAL(errno, ECHILD);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "ended unasked"));
	file = fopen(said, "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	CU_ASSERT_EQUAL(strncmp(text, "line 2\n", 7), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "line 12\nline 13\n"));
	bench_end(pid, SIGTERM);
	unlink(log);
	unlink(said);
}

static CU_TestInfo bench_cases[] = {
	{"who ends unasked is quoted", last_words},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "bench", .pTests = bench_cases},
		CU_SUITE_INFO_NULL,
	};
	int result;

	if (!mkdtemp(folder))
		return 99;
	bench_begin();
	result = tap_run(suites);
	rmdir(folder);
	return result;
}
