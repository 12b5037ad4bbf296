/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a consumer's budget, which is of collecting and looking, is kept: the speed of programs
 * with both and with neither, in pairs. Where the program goes on meanwhile, what the consumer has
 * settled on is measured, by one that looks as often: while its own experiment lasts, a minute,
 * nobody else can switch what is recorded. */
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
#define PART	10  /* a pair of runs for so many rounds */
#define BLOCKS	5   /* a pair of blocks within one run for so many */
#define SECONDS 4   /* that a block counts … */
#define BEGINS	2   /* … and before these, that do not */
#define SAYS_S	60  /* within which the program says something */
#define HELD_S	80  /* within which an experiment that was left over, 60 s long, ends */
#define ASK_S	0.3 /* between two tries to switch */

/* Pairs from which on the least and the most hold the median with 95 %. */
#define PAIRS_LEAST 6u

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
	unsigned window;   /* waves under way, as the consumer said last … */
	bool idle;	   /* … and whether agents leave all cores to the program */
	struct slowdown s; /* of what is measured now */
};

static const char *built(char *path, size_t n)
{
	bench_built("evspace", path, n);
	*strrchr(path, '/') = '\0';
	return path;
}

/* ---- the consumer ---- */

/* With the budget, or as that has settled. Only what it says of itself is kept. */
static pid_t consumer_start(struct kept *k, const char *run, bool settled, struct error *e)
{
	static const char shell[] = "exec \"$0\" \"$@\" >/dev/null";
	char evspace[4096], rate[32] = "1000", more[32], log[160];
	const char *argv[28] = {"/bin/sh",    "-c",	   shell,     evspace, "view",
				"newest",     "--connect", k->entry,  "--tls", k->bed.tls,
				"--identity", "control",   "--entry", "front", "--run",
				run,	      "--wait",	   "--rate",  rate};
	size_t n = 19;

	bench_built("evspace", evspace, sizeof(evspace));
	argv[n++] = settled ? "--window" : "--budget";
	argv[n++] = more;
	snprintf(more, sizeof(more), "%g%%", k->percent);
	if (settled) {
		snprintf(rate, sizeof(rate), "%.6g", k->s.allowed_hz);
		snprintf(more, sizeof(more), "%u", k->window);
	}
	if (settled && k->idle) {
		argv[n++] = "--urgency";
		argv[n++] = "idle";
	}
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

/* A step of its levers: "budget 1 %: up to 12 waves a second, 2 under way, from idle agents". */
static void step_read(struct kept *k, const char *line)
{
	static const char waves[] = " waves a second, ";
	const char *at = strstr(line, waves);

	k->s.allowed_hz = number_after(line, "up to ");
	k->idle = strstr(line, ", from idle agents") != NULL;
	if (!at || sscanf(at + strlen(waves), "%u under way", &k->window) != 1)
		k->window = 1;
}

/* What it says in the end: the rate that it may look at, and of all the time the one that came and
 * what that has cost. Returns the rate; NAN: it was too short. */
static double consumer_read(struct kept *k)
{
	struct slowdown *s = &k->s;
	char path[160], *line = NULL;
	double rate_hz = NAN;
	size_t size = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/consumer.log", k->bed.dir);
	log = fopen(path, "re");
	while (log && getline(&line, &size, log) > 0) {
		if (strstr(line, ": budget "))
			step_read(k, line);
		if (!strstr(line, " looks a second"))
			continue;
		/* the line about all of the time begins with it */
		if (line[0] >= '0' && line[0] <= '9')
			rate_hz = strtod(line, NULL);
		if (!strstr(line, "), measured"))
			continue;
		s->said = number_after(line, "; slowdown ");
		s->said_low = number_after(line, " % (");
		s->said_high = number_after(line, " to ");
	}
	free(line);
	if (log)
		fclose(log);
	return rate_hz;
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
		consumer = consumer_start(k, c.run, false, e);
	if (consumer < 0)
		return -1;
	since = bench_seconds();
	result = bench_run(c.argv, c.log, e);
	*speed = 1 / (bench_seconds() - since);
	if (watched) {
		bench_end(consumer, SIGINT);
		k->s.rate_hz = consumer_read(k);
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

/* The mean speed of the next seconds but the first ones. */
static int pace_of_block(struct pace *p, double *speed, struct error *e)
{
	*speed = 0;
	fseek(p->log, 0, SEEK_END);
	for (unsigned i = 0; i < BEGINS + SECONDS; i++) {
		if (bench_until(pace_says, p, SAYS_S, "a word of the program", e) < 0)
			return -1;
		*speed += i >= BEGINS ? p->steps_a_second / SECONDS : 0;
	}
	return 0;
}

/* To switch all that is collected of a run to a mode. */
struct mode_switch {
	char evspace[4096], log[160];
	const char *argv[16];
};

/* Not while an experiment that a consumer left over holds the modes. */
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

/* A block, collected and looked at, or neither: counting alone takes a tenth of what events do.
 * Without that, ranks would number their collectives differently, and experiments begin at a
 * number. */
static int pace_block(struct kept *k, struct pace *p, const char *run, bool looks, double *speed,
		      struct error *e)
{
	pid_t consumer = 0;
	int result;

	if (switch_to(k, run, looks ? "trace" : "count", e) < 0)
		return -1;
	if (looks)
		consumer = consumer_start(k, run, true, e);
	result = consumer < 0 ? -1 : pace_of_block(p, speed, e);
	if (consumer <= 0)
		return result;
	bench_end(consumer, SIGINT);
	k->s.rate_hz += consumer_read(k) / k->s.rounds;
	return result;
}

static int pace_pairs(struct kept *k, struct pace *p, const char *run, double *slowdown,
		      struct error *e)
{
	double speed[2];

	k->s.rate_hz = 0;
	for (unsigned i = 0; i < k->s.rounds; i++) {
		bool first = random() % 2;

		if (pace_block(k, p, run, first, &speed[first], e) < 0 ||
		    pace_block(k, p, run, !first, &speed[!first], e) < 0)
			return -1;
		slowdown[i] = 100 * (speed[0] / speed[1] - 1);
	}
	return 0;
}

/* For --seconds a consumer with the budget finds how to look. */
static int pace_settle(struct kept *k, const char *run, struct error *e)
{
	pid_t consumer = consumer_start(k, run, false, e);
	int result = consumer < 0 ? -1 : bench_wait(k->o->seconds, e);

	if (consumer < 0)
		return -1;
	bench_end(consumer, SIGINT);
	consumer_read(k);
	if (result == 0 && !(k->s.allowed_hz > 0))
		return errorf(e, "the consumer has not said how often it may look");
	return result;
}

static int by_blocks(struct kept *k, double *slowdown, struct error *e)
{
	struct pace p = {.program = 0};
	struct command c;
	int result;

	command_init(&c, k, true);
	p.log = fopen(c.log, "we+");
	if (!p.log)
		return errorf(e, "%s: %s", c.log, strerror(errno));
	result = p.program = bench_start(c.argv, c.log, e);
	if (result >= 0)
		result = bench_until(pace_says, &p, SAYS_S, "the program's start", e);
	if (result >= 0)
		result = pace_settle(k, c.run, e);
	if (result >= 0)
		result = pace_pairs(k, &p, c.run, slowdown, e);
	if (p.program > 0)
		bench_end(p.program, SIGTERM);
	fclose(p.log);
	return result < 0 ? -1 : 0;
}

static int budget_one(struct kept *k, struct error *e)
{
	unsigned part = k->what->reports ? BLOCKS : PART;
	unsigned n = k->o->rounds / part > PAIRS_LEAST ? k->o->rounds / part : PAIRS_LEAST;
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
