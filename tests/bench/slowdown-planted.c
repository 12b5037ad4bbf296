/* SPDX-License-Identifier: BSD-3-Clause */
/* Has `evspace perturb` find slowdowns that are planted in the collector's path of real programs.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/store/store-run.h"
#include "node-agent/store/store.h"
#include "tests/bench/bed.h"
#include "tests/bench/slowdown.h"

#define RANKS	  2
#define STARTED_S 60
/* Where there were too few rounds, it is measured so many times as long; in all at most. */
#define TIMES	   4
#define TIMES_MOST 16

static const struct program {
	const char *name, *words[6]; /* after mpirun */
	const char *block;
} programs[] = {
	{"iterate", {"tests/apps/iterate", "1", "150000"}, "50ms"},
	{"windtunnel small",
	 {"tests/apps/windtunnel", "--check", "2", "--seconds", "1000000"},
	 "100ms"},
};

/* An agent, and a program that it holds elements of. */
struct planted {
	struct bed bed;
	struct store store;
	pid_t agent, program;
	char agent_log[160], program_log[160], run[24];
	const struct program *what;
};

static bool agent_is_ready(void *arg)
{
	const struct planted *p = arg;
	FILE *log = fopen(p->agent_log, "re");
	char text[512];
	size_t n;

	if (!log)
		return false;
	n = fread(text, 1, sizeof(text) - 1, log);
	text[n] = '\0';
	fclose(log);
	return strstr(text, "ready on") != NULL;
}

/* All ranks are past their first iterations. */
static bool program_works(void *arg)
{
	struct planted *p = arg;
	struct store_run *runs;
	size_t n;
	bool works = false;

	store_refresh(&p->store);
	n = store_runs(&p->store, &runs);
	for (size_t i = 0; i < n; i++)
		works |= strcmp(runs[i].name, p->run) == 0 && runs[i].alive == RANKS &&
			 runs[i].events > RANKS * 50;
	free(runs);
	return works;
}

static int agent_start(struct planted *p, struct error *e)
{
	char evspace[4096];
	char *argv[] = {evspace, (char[]){"agent"}, NULL};

	bench_built("evspace", evspace, sizeof(evspace));
	snprintf(p->agent_log, sizeof(p->agent_log), "%s/agent.log", p->bed.dir);
	p->agent = bench_start(argv, p->agent_log, e);
	if (p->agent < 0)
		return -1;
	return bench_until(agent_is_ready, p, STARTED_S, "the agent's start", e);
}

static int program_start(struct planted *p, double percent, struct error *e)
{
	char evspace[4096], program[4096], plant[4096], text[32];
	char *argv[20] = {
		evspace,       (char[]){"run"}, (char[]){"--no-summary"}, (char[]){"--run"},
		p->run,	       (char[]){"--"},	(char[]){"mpirun"},	  (char[]){"-np"},
		(char[]){"2"}, program};
	int started;

	bench_built("evspace", evspace, sizeof(evspace));
	bench_built(p->what->words[0], program, sizeof(program));
	bench_built("tests/preload/.libs/plant.so", plant, sizeof(plant));
	if (access(plant, R_OK) < 0)
		return errorf(e, "there is no %s: make bench builds it", plant);
	for (size_t i = 1; i < 6 && p->what->words[i]; i++)
		argv[9 + i] = (char *)(uintptr_t)p->what->words[i];
	snprintf(text, sizeof(text), "%g", percent);
	snprintf(p->run, sizeof(p->run), "%.10s-%g", p->what->name, percent);
	setenv("PLANT_PERCENT", text, 1);
	setenv("LD_PRELOAD", plant, 1);
	snprintf(p->program_log, sizeof(p->program_log), "%s/program.log", p->bed.dir);
	started = p->program = bench_start(argv, p->program_log, e);
	unsetenv("LD_PRELOAD");
	if (started < 0)
		return -1;
	if (bench_until(program_works, p, STARTED_S, "the program's start", e) == 0)
		return 0;
	return bench_quote(p->program_log, e);
}

/* ---- measuring ---- */

static double number_after(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtod(at + strlen(name), NULL) : 0;
}

/* The line of the collecting arm. */
static int perturb_read(const char *log, struct slowdown *s, struct error *e)
{
	FILE *file = fopen(log, "re");
	char line[1024];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, "\"arm\":\"collect\"") != NULL;
	if (file)
		fclose(file);
	if (!found)
		return errorf(e, "evspace perturb has said nothing of collecting");
	s->estimate = 100 * number_after(line, "\"slowdown\":");
	s->low = 100 * number_after(line, "\"low\":");
	s->high = 100 * number_after(line, "\"high\":");
	s->rounds = (unsigned)number_after(line, "\"rounds\":");
	s->covered = s->low <= s->percent && s->percent <= s->high;
	return 0;
}

/* Did the machine let too few rounds come? */
static bool were_too_few(const char *log)
{
	FILE *file = fopen(log, "re");
	char line[1024];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, "rounds are too few") != NULL;
	if (file)
		fclose(file);
	return found;
}

/* For so long; longer, if that was too short. */
static int perturb_run(const struct planted *p, double seconds, struct slowdown *s, struct error *e)
{
	char evspace[4096], ab[32], block[16], log[160], run[sizeof(p->run)];
	char *argv[] = {evspace,
			(char[]){"perturb"},
			(char[]){"--run"},
			run,
			(char[]){"--ab"},
			ab,
			(char[]){"--block"},
			block,
			(char[]){"--json"},
			NULL};

	bench_built("evspace", evspace, sizeof(evspace));
	memcpy(run, p->run, sizeof(run));
	snprintf(block, sizeof(block), "%s", p->what->block);
	snprintf(log, sizeof(log), "%s/perturb.log", p->bed.dir);
	for (unsigned times = 1;; times *= TIMES) {
		snprintf(ab, sizeof(ab), "%gs", seconds * times);
		if (bench_run(argv, log, e) == 0)
			break;
		if (times >= TIMES_MOST || !were_too_few(log))
			return -1;
	}
	return perturb_read(log, s, e);
}

static int planted_one(struct planted *p, double percent, const struct bench_options *o,
		       struct error *e)
{
	struct slowdown s = slowdown_of(percent > 0 ? "planted" : "aa", p->what->name, percent);
	int result = program_start(p, percent, e);

	if (result == 0)
		result = perturb_run(p, o->seconds, &s, e);
	bench_end(p->program, SIGTERM);
	p->program = 0;
	if (result == 0)
		slowdown_print(&s, o->json);
	return result < 0 ? error_prefix(e, "%s, %g %% planted", p->what->name, percent) : 0;
}

static bool wanted(const struct bench_options *o, double percent, const char *program)
{
	return !o->only || strcmp(o->only, percent > 0 ? "planted" : "aa") == 0 ||
	       strcmp(o->only, program) == 0;
}

int slowdown_planted(const struct bench_options *o, struct error *e)
{
	static const double percents[] = {0, 0.5, 1, 2, 5};
	struct planted p = {.agent = 0};
	int result = bed_begin(&p.bed, e);

	if (result == 0)
		result = store_init(&p.store, p.bed.space, false, e);
	if (result == 0)
		result = agent_start(&p, e);
	bench_mpi();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (size_t k = 0; k < 5 && result == 0; k++) {
			p.what = &programs[i];
			if (wanted(o, percents[k], p.what->words[0] + strlen("tests/apps/")))
				result = planted_one(&p, percents[k], o, e);
		}
	bench_end(p.agent, SIGTERM);
	store_fini(&p.store);
	bed_end(&p.bed);
	return result;
}
