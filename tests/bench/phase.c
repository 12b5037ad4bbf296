/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast an execution becomes states, entropy and sums for components, beside only reading its
 * entries; then, by a script, what the paper on it has found. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "consumers/phase/execution.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"
#include "tests/random.h"

#define PROCESSES 64u
#define BLOCKS	  13u
/* Entries that are made at once, and gone through over and over, as one long run. */
#define ENTRIES 1000000u
/* How often, and the figures that are wished. */
#define TURNS	    100u
#define TURNS_QUICK 10u
#define PER_S_LEAST 20e6
#define MB_MOST	    200.0

static const char about[] =
	"usage: tests/bench/phase [--json] [--quick] [--rounds N] [--case CASE]\n"
	"\n"
	"Make states of 10^8 blocks (--quick: 10^7) that 64 processes enter, with the entropy\n"
	"of the execution, the covariance for its components, the time in blocks and that\n"
	"of each two processes in the same one, on one core; beside that, only read the blocks: "
	"case speed. Then find what the paper has found\n"
	"(tests/bench/phases.sh): cases simplex, cores, philosophers, prefix, scan,\ntunnel, "
	"live.\n";

struct bench_entry {
	uint32_t process, block;
};

static struct bench_entry *entries_make(void)
{
	struct bench_entry *entries = memory_new(ENTRIES, sizeof(*entries));
	uint32_t at[PROCESSES] = {0};
	uint64_t seed = 1;

	/* most go on to the next block, as programs do */
	for (unsigned i = 0; i < ENTRIES; i++) {
		uint32_t process = (uint32_t)random_below(&seed, PROCESSES);
		uint32_t step = random_below(&seed, 8) ? 1 : (uint32_t)random_below(&seed, BLOCKS);

		at[process] = (at[process] + step) % BLOCKS;
		entries[i] = (struct bench_entry){process, at[process]};
	}
	return entries;
}

/* Of the processor, as others may use it meanwhile. */
static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Entries a second of the whole; @alike: with for how long each two are together. */
static double whole(const struct bench_entry *entries, unsigned turns, bool alike)
{
	const struct execution_shape shape = {.processes = PROCESSES,
					      .blocks = BLOCKS,
					      .components = true,
					      .times = true,
					      .alike = alike};
	double covariance[PROCESSES * PROCESSES];
	struct execution x;
	double began, took;

	if (execution_init(&x, &shape, NULL))
		abort();
	began = cpu_seconds();
	for (unsigned turn = 0; turn < turns; turn++)
		for (unsigned i = 0; i < ENTRIES; i++)
			execution_add(&x, x.time + 1, entries[i].process, entries[i].block, NULL,
				      NULL);
	execution_end(&x, NULL, NULL);
	moments_covariance(&x.moments, covariance);
	took = cpu_seconds() - began;
	execution_fini(&x);
	return (double)turns * ENTRIES / took;
}

static double only_read(const struct bench_entry *entries, unsigned turns)
{
	uint32_t block[PROCESSES] = {0};
	double began = cpu_seconds();

	for (unsigned turn = 0; turn < turns; turn++)
		for (unsigned i = 0; i < ENTRIES; i++)
			*(volatile uint32_t *)&block[entries[i].process] = entries[i].block;
	return (double)turns * ENTRIES / (cpu_seconds() - began);
}

/* A row as tests/bench/phases.sh prints them. */
static void row(const struct bench_options *o, const char *name, const char *ours, bool holds)
{
	if (o->json)
		printf("{\"schema\":1,\"bench\":\"phase\",\"table\":\"speed\",\"row\":\"%s\","
		       "\"paper\":null,\"ours\":\"%s\",\"holds\":%s}\n",
		       name, ours, holds ? "true" : "false");
	else
		printf("%-10s %-62s paper: %-34s ours: %-34s %s\n", "speed", name, "no number",
		       ours, holds ? "holds" : "does not hold");
	fflush(stdout);
}

static void speed(const struct bench_options *o)
{
	struct bench_entry *entries = entries_make();
	unsigned turns = o->quick ? TURNS_QUICK : TURNS;
	char name[120], ours[120];
	struct rusage usage;
	double mb;

	for (unsigned round = 0; round < o->rounds; round++) {
		double rate = whole(entries, turns, false), read = only_read(entries, turns);

		snprintf(name, sizeof(name),
			 "%u million entries of %u processes: 20 million a second on one core",
			 turns * (ENTRIES / 1000000), PROCESSES);
		snprintf(ours, sizeof(ours), "%.1f million a second (only read: %.0f)", rate * 1e-6,
			 read * 1e-6);
		row(o, name, ours, rate >= PER_S_LEAST);
		rate = whole(entries, turns, true);
		snprintf(ours, sizeof(ours), "%.1f million a second", rate * 1e-6);
		row(o, "the same, and for how long each two are together: likewise", ours,
		    rate >= PER_S_LEAST);
	}
	getrusage(RUSAGE_SELF, &usage);
	mb = (double)usage.ru_maxrss * 1024e-6;
	snprintf(ours, sizeof(ours), "%.1f MB", mb);
	row(o, "memory of that: 200 MB at most", ours, mb <= MB_MOST);
	free(entries);
}

/* The script goes on in our place. */
static int paper(const struct bench_options *o)
{
	const char *words[7] = {"bash"};
	char path[PATH_MAX];
	unsigned n = 1;

	words[n++] = bench_source("tests/bench/phases.sh", path, sizeof(path));
	if (o->json)
		words[n++] = "--json";
	if (o->quick)
		words[n++] = "--quick";
	if (o->only) {
		words[n++] = "--case";
		words[n++] = o->only;
	}
	execvp("bash", (char *const *)words);
	fprintf(stderr, "phase: cannot start %s: %s\n", path, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.rounds = 1, .quick = true};
	struct bench_options o = {.rounds = 3};

	bench_parse(argc, argv, &o, &quick, about);
	if (!o.only || strcmp(o.only, "speed") == 0)
		speed(&o);
	return o.only && strcmp(o.only, "speed") == 0 ? 0 : paper(&o);
}
