/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program pays for being looked at by evspace colop: runs of the wind tunnel with it, live,
 * and without anything, in pairs. */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/bench/colop.h"
#include "tests/bench/figures.h"

#define RANKS "4"

/* Of one view, in seconds. */
#define LOOK_S 3.0

struct price {
	char dir[96];
	const struct bench_options *o;
	unsigned runs; /* so far: each has a name of its own */
};

/* How fast the wind tunnel was, by its own words; 0: it says nothing. */
static double steps_a_second(const char *path)
{
	char text[4096] = "";
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	const char *at;

	if (file)
		fclose(file);
	text[n] = '\0';
	at = strstr(text, " steps, ");
	return at ? strtod(at + strlen(" steps, "), NULL) : 0;
}

/* Run the program once, with or without all that belongs to looking. */
static int run_one(struct price *p, bool watched, double *speed, struct error *e)
{
	char evspace[4096], program[4096], run[32], seconds[32], log[128], said[128];
	const char *all[] = {evspace, "run",	      "--run",	run,	     "--no-summary",
			     "--",    "/usr/bin/env", "mpirun", "-np",	     RANKS,
			     program, "--check",      "2",	"--seconds", seconds,
			     NULL};
	const char *looks[] = {evspace, "colop", "--run", run, "--wait", "--json", NULL};
	pid_t consumer = 0;
	int result;

	bench_built("evspace", evspace, sizeof(evspace));
	bench_built("tests/apps/windtunnel", program, sizeof(program));
	snprintf(run, sizeof(run), "price%u", p->runs++);
	snprintf(seconds, sizeof(seconds), "%.0f", fmax(p->o->seconds, 1));
	snprintf(log, sizeof(log), "%s/program", p->dir);
	snprintf(said, sizeof(said), "%s/colop", p->dir);
	if (watched)
		consumer = bench_start((char *const *)(uintptr_t)looks, said, e);
	if (consumer < 0)
		return -1;
	result = bench_run((char *const *)(uintptr_t)(watched ? all : all + 6), log, e);
	if (watched)
		bench_end(consumer, SIGINT);
	*speed = steps_a_second(log);
	if (result == 0 && *speed <= 0)
		return errorf(e, "the wind tunnel has not said how fast it was");
	return result;
}

static int pairs_run(struct price *p, double *slowdown, struct error *e)
{
	double with = 1, alone = 1;

	for (unsigned i = 0; i < p->o->rounds; i++) {
		/* in turn first: what drifts goes into both */
		bool first = i % 2 == 0;

		if (run_one(p, first, first ? &with : &alone, e) < 0 ||
		    run_one(p, !first, first ? &alone : &with, e) < 0)
			return -1;
		slowdown[i] = alone / with;
	}
	return 0;
}

/* How often a second the newest tuples of @select are looked at, as often as that goes. */
static int look(const struct price *p, const char *run, const char *select, double *hz,
		struct error *e)
{
	char evspace[4096], command[5000], said[128], line[256];
	const char *argv[] = {"/bin/sh", "-c", command, NULL};
	FILE *file;

	bench_built("evspace", evspace, sizeof(evspace));
	snprintf(command, sizeof(command),
		 "exec '%s' view --run %s --wait --rate max --duration %gs --json "
		 "--define 'select %s; read latest' 2>&1 >/dev/null",
		 evspace, run, LOOK_S, select);
	snprintf(said, sizeof(said), "%s/look", p->dir);
	if (bench_run((char *const *)(uintptr_t)argv, said, e) < 0)
		return -1;
	*hz = 0;
	file = fopen(said, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, " waves, "))
			*hz = strtod(line, NULL) / LOOK_S;
	if (file)
		fclose(file);
	return *hz > 0 ? 0 : errorf(e, "no wave of %s came", select);
}

/* The paper's views: of an element, of a thread, and of all. */
static int rates_look(const struct price *p, struct error *e)
{
	static const char *const selects[] = {"/*/*/rank0/t0/collective", "/*/*/rank0/t0/**",
					      "/**"};
	char evspace[4096], program[4096], log[128];
	const char *argv[] = {evspace,	 "run",	   "--run",	"rates", "--no-summary",
			      "--",	 "mpirun", "-np",	RANKS,	 program,
			      "--check", "2",	   "--seconds", "60",	 NULL};
	double hz[3] = {0};
	pid_t pid;
	int result = 0;

	bench_built("evspace", evspace, sizeof(evspace));
	bench_built("tests/apps/windtunnel", program, sizeof(program));
	snprintf(log, sizeof(log), "%s/program", p->dir);
	pid = bench_start((char *const *)(uintptr_t)argv, log, e);
	for (unsigned i = 0; pid > 0 && result == 0 && i < 3; i++)
		result = look(p, "rates", selects[i], &hz[i], e);
	if (pid > 0)
		bench_end(pid, SIGTERM);
	if (pid < 0 || result < 0)
		return -1;
	printf(p->o->json
		       ? "{\"case\":\"observe\",\"element_hz\":%.0f,\"thread_hz\":%.0f,"
			 "\"node_hz\":%.0f}\n"
		       : "observed %.0f times a second: an element, %.0f a thread, %.0f all (the "
			 "paper: 2,500, 1,500, 200)\n",
	       hz[0], hz[1], hz[2]);
	return 0;
}

int colop_price(const struct bench_options *o, struct error *e)
{
	struct price p = {"/dev/shm/colop-price.XXXXXX", o, 0};
	double *slowdown = memory_new(o->rounds, sizeof(*slowdown)), low, high;
	char evspace[4096], log[128];
	const char *agent[] = {evspace, "agent", NULL};
	const char *gone[] = {"/bin/rm", "-rf", p.dir, NULL};
	pid_t pid = -1;
	int result = -1;

	bench_mpi();
	if (!mkdtemp(p.dir) || setenv("EVSPACE_DIR", p.dir, 1) < 0) {
		free(slowdown);
		return errorf(e, "cannot make %s", p.dir);
	}
	bench_built("evspace", evspace, sizeof(evspace));
	snprintf(log, sizeof(log), "%s/agent", p.dir);
	pid = bench_start((char *const *)(uintptr_t)agent, log, e);
	if (pid > 0)
		result = pairs_run(&p, slowdown, e) < 0 ? -1 : rates_look(&p, e);
	if (pid > 0)
		bench_end(pid, SIGTERM);
	if (result == 0) {
		figures_interval(slowdown, o->rounds, &low, &high);
		printf(o->json ? "{\"case\":\"price\",\"slowdown\":%.4f,"
				 "\"low\":%.4f,\"high\":%.4f,\"pairs\":%u}\n"
			       : "price: %.4f times as long with evspace colop (95 %%: %.4f to "
				 "%.4f; %u pairs)\n",
		       figures_median(slowdown, o->rounds), low, high, o->rounds);
	}
	(void)bench_run((char *const *)(uintptr_t)gone, "/dev/null", &(struct error){""});
	free(slowdown);
	return result;
}
