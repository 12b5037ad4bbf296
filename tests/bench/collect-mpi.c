/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts MPI programs of the bench under mpirun and takes over the figures that they print. */
#include "tests/bench/collect-mpi.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

enum { ARGS = 32 };

/** Room for the words of one command line. */
struct words {
	char *list[ARGS];
	size_t n;
};

static void word_add(struct words *words, const char *text)
{
	if (words->n + 1 < ARGS)
		words->list[words->n++] = (char *)(uintptr_t)text;
}

const char *mpi_log(char *path, size_t n)
{
	snprintf(path, n, "%s/mpi.log", collect_bench.base);
	return path;
}

/* "LD_PRELOAD=…", in the order of loading. */
static void preload_write(const struct mpi_run *run, char *out, size_t n)
{
	char library[4096] = "";

	if (!run->alone)
		bench_built(".libs/libevspace-mpi.so", library, sizeof(library));
	snprintf(out, n, "LD_PRELOAD=%s %s %s", run->before ? run->before : "", library,
		 run->with ? run->with : "");
}

int mpi_run(const struct mpi_run *run, struct error *e)
{
	char program[] = "/usr/bin/env", log[128], ranks[16], preload[8192], space[128];
	struct words words = {.n = 0};
	int result;

	snprintf(ranks, sizeof(ranks), "%u", run->ranks);
	preload_write(run, preload, sizeof(preload));
	word_add(&words, program);
	word_add(&words, "timeout");
	word_add(&words, "-k5");
	word_add(&words, "120");
	word_add(&words, "mpirun");
	word_add(&words, "-np");
	word_add(&words, ranks);
	word_add(&words, "--bind-to");
	/* more ranks than cores share them for good: to wander costs more than what is measured */
	word_add(&words, "core:overload-allowed");
	word_add(&words, "-x");
	word_add(&words, preload);
	if (run->folder) {
		word_add(&words, "-wdir");
		word_add(&words, run->folder);
	}
	word_add(&words, run->program);
	for (const char *const *arg = run->args; arg && *arg; arg++)
		word_add(&words, *arg);
	setenv("EVSPACE_RUN", "bench", 1);
	result = bench_run(words.list, mpi_log(log, sizeof(log)), e);
	snprintf(space, sizeof(space), "%.80s/bench", collect_bench.space);
	collect_remove(space);
	return result;
}

static int figures_read(struct pairs *p, struct error *e)
{
	char path[128], line[256];
	FILE *file = fopen(mpi_log(path, sizeof(path)), "re");
	int found = 0;

	while (file && fgets(line, sizeof(line), file))
		found |= sscanf(line, "figures %lf %lf %lf", &p->ns, &p->limit_ns, &p->ratio) == 3;
	if (file)
		fclose(file);
	if (found)
		return 0;
	errorf(e, "it printed no figures");
	return bench_quote(path, e);
}

int mpi_figures(const struct collect_case *c, const char *program, struct mpi_run run,
		struct error *e)
{
	char path[4096], name[64], pairs[16];
	const char *args[] = {c->name, pairs, NULL};
	struct pairs p = {.low = 0};

	snprintf(name, sizeof(name), "tests/bench/%s", program);
	snprintf(pairs, sizeof(pairs), "%zu", collect_pairs());
	run.program = bench_built(name, path, sizeof(path));
	run.args = args;
	if (mpi_run(&run, e) < 0 || figures_read(&p, e) < 0)
		return -1;
	collect_report(c, NULL, p);
	return 0;
}

int collect_solo_case(const struct collect_case *c, struct error *e)
{
	return mpi_figures(c, "solo", (struct mpi_run){.ranks = 1}, e);
}

int collect_duo_case(const struct collect_case *c, struct error *e)
{
	return mpi_figures(c, "duo", (struct mpi_run){.ranks = 2}, e);
}

int collect_off_case(const struct collect_case *c, struct error *e)
{
	char forward[4096];
	int result;

	setenv("BENCH_FORWARD", bench_built("tests/bench/.libs/forward.so", forward, 4096), 1);
	setenv("EVSPACE_MODES", "collective=off", 1);
	result = mpi_figures(c, "solo", (struct mpi_run){.ranks = 1}, e);
	unsetenv("EVSPACE_MODES");
	return result;
}
