/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast an execution becomes states, entropy and sums for components, beside only reading its
 * entries; then, by a script, what the paper on it has found. */
#include <errno.h>
#include <limits.h>
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

static const char about[] =
	"usage: tests/bench/phase [--json] [--quick] [--seconds S] [--rounds N] [--case CASE]\n"
	"\n"
	"Make states of the blocks of 64 processes, with the entropy of the execution and the "
	"sums\n"
	"for its components, on one core; beside that, only read the blocks: case speed. Then "
	"find\n"
	"what the paper has found (tests/bench/phases.sh): cases simplex, philosophers, prefix, "
	"scan,\n"
	"tunnel.\n";

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

/* Entries a second of the whole. */
static double whole(const struct bench_entry *entries, double seconds, uint64_t *n)
{
	static const struct execution_shape shape = {
		.processes = PROCESSES, .blocks = BLOCKS, .components = true};
	struct execution x;
	double began, took;

	if (execution_init(&x, &shape, NULL))
		abort();
	began = cpu_seconds();
	do {
		for (unsigned i = 0; i < ENTRIES; i++)
			execution_add(&x, x.time + 1, entries[i].process, entries[i].block, NULL,
				      NULL);
		took = cpu_seconds() - began;
	} while (took < seconds);
	*n = x.entries;
	execution_fini(&x);
	return (double)*n / took;
}

static double only_read(const struct bench_entry *entries, double seconds)
{
	uint32_t block[PROCESSES] = {0};
	double began = cpu_seconds(), took;
	uint64_t n = 0;

	do {
		for (unsigned i = 0; i < ENTRIES; i++)
			*(volatile uint32_t *)&block[entries[i].process] = entries[i].block;
		n += ENTRIES;
		took = cpu_seconds() - began;
	} while (took < seconds);
	return (double)n / took;
}

static void speed(const struct bench_options *o)
{
	struct bench_entry *entries = entries_make();

	for (unsigned round = 0; round < o->rounds; round++) {
		struct rusage usage;
		uint64_t n;
		double rate = whole(entries, o->seconds, &n);
		double read = only_read(entries, o->seconds);

		getrusage(RUSAGE_SELF, &usage);
		printf(o->json ? "{\"case\":\"speed\",\"processes\":%u,\"entries\":%llu,"
				 "\"per_s\":%.0f,\"read_per_s\":%.0f,\"ratio\":%.1f,"
				 "\"memory_mb\":%.1f}\n"
			       : "speed: %u processes, %llu entries: %.0f a second; only read, "
				 "%.0f "
				 "(%.1f); %.1f MB\n",
		       PROCESSES, (unsigned long long)n, rate, read, read / rate,
		       (double)usage.ru_maxrss / 1024);
		fflush(stdout);
	}
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
	static const struct bench_options quick = {.seconds = 0.2, .rounds = 1, .quick = true};
	struct bench_options o = {.seconds = 2, .rounds = 3};

	bench_parse(argc, argv, &o, &quick, about);
	if (!o.only || strcmp(o.only, "speed") == 0)
		speed(&o);
	return o.only && strcmp(o.only, "speed") == 0 ? 0 : paper(&o);
}
