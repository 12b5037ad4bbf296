/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a consumer's budget, which is of collecting and looking, is kept: the speed of programs
 * with both and with neither, in pairs. */
#include <arpa/inet.h>
#include <errno.h>
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

#define RANKS	4
#define HOSTS	2   /* of a cluster */
#define PART	20  /* a pair of runs for so many rounds */
#define BLOCKS	20  /* a pair of blocks within one run for so many */
#define SECONDS 10  /* that a block counts, and one before that does not */
#define STEADY	10  /* s after which the consumer knows again what collecting costs */
#define SAYS_S	60  /* within which the program says something */
#define HELD_S	180 /* within which an experiment of the consumer, 60 s long, ends */
#define ASK_S	0.3 /* between two tries to switch */

#define HPCC_INPUT "/usr/share/doc/hpcc/examples/_hpccinf.txt"

/* What the shell runs in the folder $0: $1 is evspace, $2 the build, $3 the run's name, "": it is
 * not collected. */
#define COLLECTED "${3:+\"$1\" run --run \"$3\" --no-summary --} "

static const struct program {
	const char *name, *word, *command;
	bool reports; /* how fast it is, each second: pairs are blocks of one run */
} programs[] = {
	{"windtunnel small", "small",
	 "exec " COLLECTED "mpirun -np 4 "
	 "\"$2/tests/apps/windtunnel\" --check 2 --seconds 1000000 --report",
	 true},
	{"windtunnel medium", "medium",
	 "exec " COLLECTED "mpirun -np 4 "
	 "\"$2/tests/apps/windtunnel\" --size medium --check 1 --seconds 1000000 --report",
	 true},
	{"hpcc", "hpcc",
	 "cd \"$0\" && sed 's/^1000\\( .*Ns\\)/500\\1/' " HPCC_INPUT
	 " >hpccinf.txt && rm -f hpccoutf.txt && exec " COLLECTED "mpirun -np 4 hpcc",
	 false},
};

struct kept {
	struct bed bed;
	const struct bench_options *o;
	const struct program *what;
	double percent;
	char entry[64];	   /* the address of its agent */
	unsigned runs;	   /* so far: each has a name of its own */
	struct slowdown s; /* of what is measured now */
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
	char evspace[4096], budget[32], log[160];
	const char *argv[] = {evspace, "view",	   "newest",	 "--connect", k->entry,
			      "--tls", k->bed.tls, "--identity", "control",   "--entry",
			      "front", "--run",	   run,		 "--wait",    "--rate",
			      "1000",  "--budget", budget,	 "--json",    NULL};

	bench_built("evspace", evspace, sizeof(evspace));
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
static void consumer_read(struct kept *k)
{
	struct slowdown *s = &k->s;
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

/* ---- programs ---- */

/* A run with a name of its own. */
struct command {
	char command[1024], dir[160], evspace[4096], build[4096], run[32], log[160];
	char *argv[8];
};

static void command_init(struct command *c, struct kept *k, bool collected)
{
	static char shell[] = "/bin/sh", option[] = "-c";
	char *const argv[] = {shell,	  option,   c->command, c->dir,
			      c->evspace, c->build, c->run,	NULL};

	snprintf(c->command, sizeof(c->command), "%s", k->what->command);
	snprintf(c->dir, sizeof(c->dir), "%s", k->bed.dir);
	bench_built("evspace", c->evspace, sizeof(c->evspace));
	built(c->build, sizeof(c->build));
	c->run[0] = '\0';
	if (collected)
		snprintf(c->run, sizeof(c->run), "run%u", k->runs++);
	snprintf(c->log, sizeof(c->log), "%s/program.log", k->bed.dir);
	memcpy(c->argv, argv, sizeof(argv));
}

/* Run the program once. *@speed: in any one unit. */
static int run_one(struct kept *k, bool watched, double *speed, struct error *e)
{
	struct command c;
	pid_t consumer = 0;
	double since;
	int result;

	command_init(&c, k, watched);
	if (watched)
		consumer = consumer_start(k, c.run, e);
	if (consumer < 0)
		return -1;
	since = bench_seconds();
	result = bench_run(c.argv, c.log, e);
	*speed = 1 / (bench_seconds() - since);
	if (watched) {
		bench_end(consumer, SIGINT);
		consumer_read(k);
	}
	return result;
}

/* Whole runs, collected and looked at, and neither. */
static int by_runs(struct kept *k, double *slowdown, struct error *e)
{
	double with = 1, alone = 1;

	for (unsigned i = 0; i < k->s.rounds; i++) {
		/* in turn first: what drifts goes into both */
		if (run_one(k, i % 2 == 0, i % 2 == 0 ? &with : &alone, e) < 0 ||
		    run_one(k, i % 2 == 1, i % 2 == 1 ? &with : &alone, e) < 0)
			return -1;
		slowdown[i] = 100 * (alone / with - 1);
	}
	return 0;
}

/* ---- blocks of one run ---- */

/* A program that says each second how fast it was. */
struct pace {
	pid_t program;
	FILE *log;
	double steps_a_second;
	double stopped; /* seconds that the consumer was */
};

static bool pace_says(void *arg)
{
	struct pace *p = arg;
	char line[256];
	long at = ftell(p->log);

	while (fgets(line, sizeof(line), p->log)) {
		p->steps_a_second = number_after(line, ", ");
		if (strchr(line, '\n') && strncmp(line, "windtunnel: step ", 17) == 0 &&
		    p->steps_a_second > 0)
			return true;
		if (!strchr(line, '\n'))
			break;
		at = ftell(p->log);
	}
	clearerr(p->log);
	fseek(p->log, at, SEEK_SET);
	return false;
}

/* The mean speed of the next seconds but the first, in which the last block ended. */
static int pace_of_block(struct pace *p, double *speed, struct error *e)
{
	*speed = 0;
	fseek(p->log, 0, SEEK_END);
	for (unsigned i = 0; i <= SECONDS; i++) {
		if (bench_until(pace_says, p, SAYS_S, "a word of the program", e) < 0)
			return -1;
		*speed += i > 0 ? p->steps_a_second / SECONDS : 0;
	}
	return 0;
}

/* To switch all that is collected of a run to a mode. */
struct mode_switch {
	char evspace[4096], log[160];
	const char *argv[16];
};

/* Not while an experiment of the consumer's holds the modes. */
static bool is_switched(void *arg)
{
	const struct mode_switch *s = arg;
	struct error e;

	return bench_run((char *const *)(uintptr_t)s->argv, s->log, &e) == 0 ||
	       bench_wait(ASK_S, &e) < 0;
}

static int switch_to(const struct kept *k, const char *run, const char *mode, struct error *e)
{
	struct mode_switch s;
	const char *argv[] = {s.evspace,  "collect",	"--connect", k->entry,	"--tls",
			      k->bed.tls, "--identity", "control",   "--entry", "front",
			      "--run",	  run,		mode,	     NULL};

	bench_built("evspace", s.evspace, sizeof(s.evspace));
	snprintf(s.log, sizeof(s.log), "%s/switch.log", k->bed.dir);
	memcpy(s.argv, argv, sizeof(argv));
	return bench_until(is_switched, &s, HELD_S, "modes that can be switched", e);
}

/* Pairs of blocks, one collected and looked at, and one neither: a consumer that is stopped asks
 * for nothing, and counting alone takes a tenth of what events do. Without that, ranks would number
 * their collectives differently, and the consumer's own experiments begin at a number. */
static int pace_pairs(struct kept *k, struct pace *p, const char *run, pid_t consumer,
		      double *slowdown, struct error *e)
{
	double speed[2];
	bool looking = true;

	for (unsigned i = 0; i < k->s.rounds; i++) {
		bool first = random() % 2;

		for (unsigned n = 0; n < 2; n++) {
			bool looks = first == (n == 0);
			double since;

			if (looks != looking && switch_to(k, run, looks ? "trace" : "count", e) < 0)
				return -1;
			since = bench_seconds();
			kill(consumer, looks ? SIGCONT : SIGSTOP);
			if ((looks && !looking && bench_wait(STEADY, e) < 0) ||
			    pace_of_block(p, &speed[looks], e) < 0)
				return -1;
			looking = looks;
			p->stopped += looks ? 0 : bench_seconds() - since;
		}
		slowdown[i] = 100 * (speed[0] / speed[1] - 1);
	}
	return 0;
}

/* For --seconds the controller finds its rate, then the blocks. */
static int by_blocks(struct kept *k, double *slowdown, struct error *e)
{
	struct pace p = {.program = 0};
	struct command c;
	pid_t consumer;
	double since;
	int result;

	command_init(&c, k, true);
	p.log = fopen(c.log, "we+");
	if (!p.log)
		return errorf(e, "%s: %s", c.log, strerror(errno));
	result = consumer = consumer_start(k, c.run, e);
	if (result >= 0)
		result = p.program = bench_start(c.argv, c.log, e);
	if (result >= 0)
		result = bench_until(pace_says, &p, SAYS_S, "the program's start", e);
	since = bench_seconds();
	if (result >= 0)
		result = bench_wait(k->o->seconds, e);
	if (result >= 0)
		result = pace_pairs(k, &p, c.run, consumer, slowdown, e);
	if (consumer > 0) {
		kill(consumer, SIGCONT);
		bench_end(consumer, SIGINT);
		since = bench_seconds() - since;
		consumer_read(k);
		k->s.rate_hz *= since / fmax(since - p.stopped, SECONDS);
	}
	if (p.program > 0)
		bench_end(p.program, SIGTERM);
	fclose(p.log);
	return result < 0 ? -1 : 0;
}

static int budget_one(struct kept *k, struct error *e)
{
	unsigned part = k->what->reports ? BLOCKS : PART;
	unsigned n = k->o->rounds < 2 * part ? 1 : k->o->rounds / part;
	struct slowdown *s = &k->s;
	double *slowdown = memory_new(n, sizeof(*slowdown));
	int result;

	*s = slowdown_of("budget", k->what->name, k->percent);
	s->rounds = n;
	result = (k->what->reports ? by_blocks : by_runs)(k, slowdown, e);
	if (result == 0) {
		s->estimate = figures_median(slowdown, n);
		figures_interval(slowdown, n, &s->low, &s->high);
		s->covered = s->high <= s->percent;
		slowdown_print(s, k->o->json);
	}
	free(slowdown);
	return result < 0 ? error_prefix(e, "%s, budget %g %%", k->what->name, k->percent) : 0;
}

static int kept_begin(struct kept *k, struct error *e)
{
	char host[INET_ADDRSTRLEN];

	if (bed_begin(&k->bed, e) < 0 || bed_control(&k->bed, e) < 0 ||
	    bed_map(&k->bed, "application.map", e,
		    "application program { ranks rank[0-%d];\nview newest { " BED_NEWEST " } }\n",
		    RANKS - 1) < 0 ||
	    bed_clusters(&k->bed, HOSTS, e) < 0)
		return -1;
	if (bed_start(&k->bed, e) < 0)
		return -1;
	inet_ntop(AF_INET, &bed_agent(&k->bed, "front")->end.sin_addr, host, sizeof(host));
	snprintf(k->entry, sizeof(k->entry), "%s:%d", host, BED_PORT);
	return 0;
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
