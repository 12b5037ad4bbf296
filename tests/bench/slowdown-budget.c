/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a consumer's budget is kept: runs of programs with it and without, in pairs. */
#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tests/bench/bed.h"
#include "tests/bench/figures.h"
#include "tests/bench/slowdown.h"

#define RANKS 4
#define HOSTS 2	 /* of a cluster */
#define PART  20 /* a pair of runs for so many rounds */

#define HPCC_INPUT "/usr/share/doc/hpcc/examples/_hpccinf.txt"

/* What the shell runs in the folder $0: $1 is evspace, $2 the build, $3 the run's name, $4 seconds.
 */
static const struct program {
	const char *name, *word, *command;
} programs[] = {
	{"windtunnel small", "small",
	 "cd \"$0\" && exec \"$1\" run --run \"$3\" --no-summary -- mpirun -np 4 "
	 "\"$2/tests/apps/windtunnel\" --check 2 --seconds \"$4\" >out"},
	{"windtunnel medium", "medium",
	 "cd \"$0\" && exec \"$1\" run --run \"$3\" --no-summary -- mpirun -np 4 "
	 "\"$2/tests/apps/windtunnel\" --size medium --check 1 --seconds \"$4\" >out"},
	{"hpcc", "hpcc",
	 "cd \"$0\" && sed 's/^1000\\( .*Ns\\)/500\\1/' " HPCC_INPUT
	 " >hpccinf.txt && rm -f hpccoutf.txt && exec \"$1\" run --run \"$3\" --no-summary -- "
	 "mpirun -np 4 hpcc"},
};

struct kept {
	struct bed bed;
	const struct bench_options *o;
	const struct program *what;
	double percent;
	unsigned runs; /* so far: each has a name of its own */
	struct slowdown *s;
};

static const char *built(char *path, size_t n)
{
	bench_built("evspace", path, n);
	*strrchr(path, '/') = '\0';
	return path;
}

/* ---- the consumer ---- */

static pid_t consumer_start(struct kept *k, const char *run, struct error *e)
{
	const struct bed_agent *front = bed_agent(&k->bed, "front");
	char evspace[4096], address[64], host[INET_ADDRSTRLEN], budget[32], log[160];
	const char *argv[] = {evspace, "view",	   "newest",	 "--connect", address,
			      "--tls", k->bed.tls, "--identity", "control",   "--entry",
			      "front", "--run",	   run,		 "--wait",    "--rate",
			      "1000",  "--budget", budget,	 "--json",    NULL};

	bench_built("evspace", evspace, sizeof(evspace));
	inet_ntop(AF_INET, &front->end.sin_addr, host, sizeof(host));
	snprintf(address, sizeof(address), "%s:%d", host, BED_PORT);
	snprintf(budget, sizeof(budget), "%g%%", k->percent);
	snprintf(log, sizeof(log), "%s/consumer.log", k->bed.dir);
	return bench_start((char *const *)(uintptr_t)argv, log, e);
}

/* The number after @name in @line; NAN if there is none. */
static double number_after(const char *line, const char *name)
{
	const char *at = strstr(line, name);
	char *end = NULL;
	double x = at ? strtod(at + strlen(name), &end) : NAN;

	return at && end != at + strlen(name) ? x : NAN;
}

/* What it says in the end: the rate that it may look at, and of all the time the one that came and
 * what that has cost. */
static void consumer_read(const struct kept *k)
{
	struct slowdown *s = k->s;
	char path[160], *line = NULL;
	size_t size = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/consumer.log", k->bed.dir);
	log = fopen(path, "re");
	while (log && getline(&line, &size, log) > 0) {
		if (strstr(line, ": budget "))
			s->allowed_hz = number_after(line, "up to ");
		if (!strstr(line, "\"type\":\"cost\""))
			continue;
		s->rate_hz = number_after(line, "\"rate_hz\":");
		s->said = 100 * number_after(line, "\"measured\":");
		s->said_low = 100 * number_after(line, "\"measured_low\":");
		s->said_high = 100 * number_after(line, "\"measured_high\":");
	}
	free(line);
	if (log)
		fclose(log);
}

/* ---- runs ---- */

/* How fast the wind tunnel was, by its own words; 0: it says nothing. */
static double steps_a_second(const struct kept *k)
{
	char path[160], text[1024] = "";
	const char *at;
	size_t n = 0;
	FILE *out;

	snprintf(path, sizeof(path), "%s/out", k->bed.dir);
	out = fopen(path, "re");
	if (out)
		n = fread(text, 1, sizeof(text) - 1, out);
	text[n] = '\0';
	if (out)
		fclose(out);
	at = strstr(text, " steps, ");
	return at ? strtod(at + strlen(" steps, "), NULL) : 0;
}

/* Run the program once. *@speed: in any one unit. */
static int run_one(struct kept *k, bool watched, double *speed, struct error *e)
{
	char evspace[4096], build[4096], run[32], seconds[32], dir[sizeof(k->bed.dir)], log[160];
	char command[1024];
	char *argv[] = {(char[]){"/bin/sh"},
			(char[]){"-c"},
			command,
			dir,
			evspace,
			build,
			run,
			seconds,
			NULL};
	pid_t consumer = 0;
	double since;
	int result = 0;

	snprintf(run, sizeof(run), "run%u", k->runs++);
	snprintf(seconds, sizeof(seconds), "%.0f", fmax(k->o->seconds, 1));
	snprintf(log, sizeof(log), "%s/program.log", k->bed.dir);
	snprintf(command, sizeof(command), "%s", k->what->command);
	memcpy(dir, k->bed.dir, sizeof(dir));
	bench_built("evspace", evspace, sizeof(evspace));
	built(build, sizeof(build));
	if (watched)
		consumer = consumer_start(k, run, e);
	if (consumer < 0)
		return -1;
	since = bench_seconds();
	result = bench_run(argv, log, e);
	*speed = strcmp(k->what->word, "hpcc") == 0 ? 1 / (bench_seconds() - since)
						    : steps_a_second(k);
	if (watched) {
		bench_end(consumer, SIGINT);
		consumer_read(k);
	}
	if (result == 0 && *speed <= 0)
		return errorf(e, "it has not said how fast it was");
	return result;
}

static int budget_one(struct kept *k, struct error *e)
{
	unsigned n = k->o->rounds < 2 * PART ? 1 : k->o->rounds / PART;
	struct slowdown s = slowdown_of("budget", k->what->name, k->percent);
	double *slowdown = memory_new(n, sizeof(*slowdown)), with = 1, alone = 1;
	int result = 0;

	k->s = &s;
	s.rounds = n;
	for (unsigned i = 0; i < n && result == 0; i++) {
		/* in turn first: what drifts goes into both */
		result = run_one(k, i % 2 == 0, i % 2 == 0 ? &with : &alone, e);
		if (result == 0)
			result = run_one(k, i % 2 == 1, i % 2 == 1 ? &with : &alone, e);
		slowdown[i] = 100 * (alone / with - 1);
	}
	if (result == 0) {
		s.estimate = figures_median(slowdown, n);
		figures_interval(slowdown, n, &s.low, &s.high);
		s.covered = s.estimate <= s.percent;
		slowdown_print(&s, k->o->json);
	}
	free(slowdown);
	return result < 0 ? error_prefix(e, "%s, budget %g %%", k->what->name, k->percent) : 0;
}

static int kept_begin(struct kept *k, struct error *e)
{
	if (bed_begin(&k->bed, e) < 0 || bed_control(&k->bed, e) < 0 ||
	    bed_map(&k->bed, "application.map", e,
		    "application program { ranks rank[0-%d];\nview newest { " BED_NEWEST " } }\n",
		    RANKS - 1) < 0 ||
	    bed_clusters(&k->bed, HOSTS, e) < 0)
		return -1;
	return bed_start(&k->bed, e);
}

int slowdown_budgets(const struct bench_options *o, struct error *e)
{
	static const double percents[] = {0.5, 1, 2, 5};
	struct kept k = {.o = o};
	int result;

	if (o->only && strcmp(o->only, "budget") != 0 && strcmp(o->only, "small") != 0 &&
	    strcmp(o->only, "medium") != 0 && strcmp(o->only, "hpcc") != 0)
		return 0;
	bench_mpi();
	result = kept_begin(&k, e);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (size_t p = o->quick; p < (o->quick ? 2 : 4) && result == 0; p++) {
			k.what = &programs[i];
			k.percent = percents[p];
			if (!o->only || strcmp(o->only, "budget") == 0 ||
			    strcmp(o->only, k.what->word) == 0)
				result = budget_one(&k, e);
		}
	bed_end(&k.bed);
	return result;
}
