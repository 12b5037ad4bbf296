/* SPDX-License-Identifier: BSD-3-Clause */
/* LTTng-UST in our place: a session that records in overwrite mode, by a daemon of its own if none
 * runs. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/collect-case.h"
#include "tests/bench/collect-mpi.h"

#define DAEMON_S 10

enum { WORDS = 16 };

static char session[64];

/* lttng --no-sessiond WORD..., ended by NULL. Returns 0, or -1 with what it says. */
static int lttng(const char *const *words, struct error *e)
{
	char program[] = "/usr/bin/env", log[128];
	char *argv[WORDS] = {program, (char *)(uintptr_t) "lttng",
			     (char *)(uintptr_t) "--no-sessiond"};

	for (size_t i = 3; *words && i + 1 < WORDS; words++)
		argv[i++] = (char *)(uintptr_t)*words;
	snprintf(log, sizeof(log), "%s/lttng.log", collect_bench.base);
	return bench_run(argv, log, e);
}

static bool daemon_answers(void *arg)
{
	struct error e;

	(void)arg;
	return lttng((const char *const[]){"list", NULL}, &e) == 0;
}

/* Returns its pid, 0 where one runs already, or -1. */
static pid_t daemon_start(struct error *e)
{
	char program[] = "/usr/bin/env", name[] = "lttng-sessiond", kernel[] = "--no-kernel";
	char *argv[] = {program, name, kernel, NULL};
	char log[128];
	pid_t pid;

	if (daemon_answers(NULL))
		return 0;
	snprintf(log, sizeof(log), "%s/lttng-sessiond.log", collect_bench.base);
	pid = bench_start(argv, log, e);
	if (pid < 0)
		return -1;
	if (bench_until(daemon_answers, NULL, DAEMON_S, "lttng-sessiond answers", e) == 0)
		return pid;
	bench_quote(log, e);
	bench_end(pid, SIGTERM);
	return -1;
}

/* A snapshot session keeps its buffers in memory and overwrites the oldest: what is nearest to us.
 */
static int session_start(struct error *e)
{
	char output[160];

	snprintf(session, sizeof(session), "evspace-bench-%d", (int)getpid());
	snprintf(output, sizeof(output), "--output=%s/lttng", collect_bench.base);
	if (lttng((const char *const[]){"create", session, "--snapshot", output, NULL}, e) < 0 ||
	    lttng((const char *const[]){"enable-channel", "-u", "-s", session, "--overwrite",
					"bench", NULL},
		  e) < 0 ||
	    lttng((const char *const[]){"enable-event", "-u", "-s", session, "-c", "bench",
					"evspace_bench:*", NULL},
		  e) < 0)
		return -1;
	return lttng((const char *const[]){"start", session, NULL}, e);
}

int collect_lttng_case(const struct collect_case *c, struct error *e)
{
	char library[4096];
	struct error dropped;
	pid_t pid;
	int result;

	if (access(bench_built("tests/bench/.libs/lttng.so", library, sizeof(library)), R_OK) < 0)
		return errorf(e, "it was built without LTTng-UST (Debian: liblttng-ust-dev, "
				 "lttng-tools)");
	setenv("LTTNG_HOME", collect_bench.base, 1);
	/* a program waits for so many ms until the daemon knows it */
	setenv("LTTNG_UST_REGISTER_TIMEOUT", "5000", 1);
	pid = daemon_start(e);
	if (pid < 0)
		return -1;
	result = session_start(e);
	if (result == 0)
		result = mpi_figures(c, "solo", (struct mpi_run){.ranks = 1, .with = library}, e);
	lttng((const char *const[]){"destroy", session, NULL}, &dropped);
	if (pid > 0)
		bench_end(pid, SIGTERM);
	return result;
}
