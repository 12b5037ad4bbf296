/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests/apps/amoeba would do if each of its processes had a processor to itself: prints the
 * blocks that they enter, as `evspace phase --file` reads them. Only time is made up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/apps/simplex.h"
#include "tests/random.h"

static const char usage[] = "usage: tests/bench/cores mpi|async|none|guided PROCESSES SEED NOISE\n"
			    "\n"
			    "A value of the function takes 1, on a processor that is slower by up "
			    "to half of NOISE, and "
			    "by NOISE more on the mean, at random;\n"
			    "any other block takes 0.02, a message 0.05 and as much more on the "
			    "mean. Times are printed\n"
			    "in hundredths, and --start is 1. Five runs, one behind the other.\n";

#define BLOCK	0.02
#define MESSAGE 0.05
#define RUNS	5

enum variant { MPI, ASYNC, NONE, GUIDED };

struct core_entry {
	long time;
	uint32_t block;
	int process;
};

static struct simplex_work told, here;
static double now[SIMPLEX_MOST], slow[SIMPLEX_MOST], noise;
static int process; /* which one computes */
static uint64_t seed;
static struct core_entry *entries;
static size_t n;

static double uniform(void)
{
	return ((double)random_below(&seed, UINT64_C(1) << 52) + 1) / 0x1p52;
}

/* @mean on the mean. */
static double some(double mean)
{
	return -mean * log(uniform());
}

static void take(double time)
{
	now[process] += time * slow[process] * (1 + some(noise));
}

static void on_fun(void *arg)
{
	(void)arg;
	take(1);
}

static void on_block(void *arg, uint32_t number)
{
	(void)arg;
	entries = memory_room(entries, n, sizeof(*entries));
	entries[n++] = (struct core_entry){lround(now[process] * 100), number, process};
	take(BLOCK);
}

static void all_enter(uint32_t number)
{
	for (process = 0; process < told.size; process++)
		on_block(NULL, number);
}

/* Nobody is told before the last one has come. */
static void all_reduce(void)
{
	double last = 0;

	for (int i = 0; i < told.size; i++)
		last = fmax(last, now[i]);
	for (int i = 0; i < told.size; i++)
		now[i] = last + MESSAGE + some(MESSAGE);
}

/* Nobody goes on before it has come from @root, which has sent it at @sent. */
static void all_receive(int root, double sent)
{
	for (int i = 0; i < told.size; i++)
		if (i != root)
			now[i] = fmax(now[i], sent + MESSAGE + some(MESSAGE));
}

/* Blocks 10 to 12, as tests/apps/amoeba has them. */
static void agree(enum variant variant, int root)
{
	double sent;

	all_enter(10);
	if (variant == MPI)
		all_reduce();
	all_enter(11);
	if (variant == ASYNC)
		all_reduce();
	sent = now[root];
	if (variant == MPI)
		all_receive(root, sent);
	all_enter(12);
	if (variant == ASYNC)
		all_receive(root, sent);
}

static void run(enum variant variant)
{
	static struct simplex s[SIMPLEX_MOST], next;
	static double value[SIMPLEX_MOST][SIMPLEX_MOST];

	for (int i = 0; i < told.size; i++) {
		simplex_begin(&here, &s[i]);
		slow[i] = 1 + noise / 2 * uniform();
		now[i] = some(MESSAGE);
	}
	all_enter(1);
	for (process = 0; process < told.size; process++)
		simplex_values(&told, &s[process], value[process]);
	for (int k = 0; k < SIMPLEX_ITERATIONS; k++) {
		int root = simplex_step(&here, &s[0], &next);

		for (process = 0; process < told.size; process++)
			(void)simplex_move(&told, &s[process], value[process], process);
		agree(variant, root);
		for (process = 0; process < told.size; process++) {
			if (variant != NONE)
				s[process] = next;
			simplex_values(&told, &s[process], value[process]);
		}
	}
	all_enter(13);
}

static int earlier(const void *a, const void *b)
{
	const struct core_entry *x = a, *y = b;

	return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
				  : (int)x->block - (int)y->block;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"mpi", "async", "none", "guided"};
	int variant = 0;

	while (variant < 4 && argc > 1 && strcmp(argv[1], names[variant]) != 0)
		variant++;
	here.size = argc > 2 ? atoi(argv[2]) : 0;
	if (variant == 4 || argc != 5 || here.size < 3 || here.size > SIMPLEX_MOST) {
		fputs(usage, stderr);
		return 2;
	}
	seed = strtoull(argv[3], NULL, 10);
	noise = strtod(argv[4], NULL);
	told = (struct simplex_work){here.size, on_block, on_fun, NULL};
	for (int i = 0; i < RUNS; i++) {
		n = 0;
		run((enum variant)variant);
		qsort(entries, n, sizeof(*entries), earlier);
		for (size_t k = 0; k < n; k++)
			printf("%ld %u %d\n", entries[k].time, entries[k].block,
			       entries[k].process);
	}
	free(entries);
	return 0;
}
