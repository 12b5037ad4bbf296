/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of MPI calls by name: a small table behind a lock, printed by rank 0. */
#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/counts.h"

enum { OPS_MAX = 320 };

/* A fixed size: the gathering of the tables is counted before it is done. */
struct count {
	char op[40];
	uint64_t calls, bytes, polls, completions, completed_bytes;
};

static struct count table[OPS_MAX];
int counts_spawned;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Called with the lock held. */
static struct count *count_find(const char *op)
{
	for (struct count *c = table; c < table + OPS_MAX; c++) {
		if (!c->op[0])
			snprintf(c->op, sizeof(c->op), "%s", op);
		if (strcmp(c->op, op) == 0)
			return c;
	}
	fprintf(stderr, "counts: more than %d operations\n", OPS_MAX);
	abort();
}

static void count_add(const char *op, const struct count *more)
{
	struct count *c;

	pthread_mutex_lock(&lock);
	c = count_find(op);
	c->calls += more->calls;
	c->bytes += more->bytes;
	c->polls += more->polls;
	c->completions += more->completions;
	c->completed_bytes += more->completed_bytes;
	pthread_mutex_unlock(&lock);
}

void counts_call(const char *op, uint64_t bytes)
{
	count_add(op, &(struct count){.calls = 1, .bytes = bytes});
}

void counts_poll(const char *op)
{
	count_add(op, &(struct count){.polls = 1});
}

void counts_done(const char *op, uint64_t completions, uint64_t bytes)
{
	count_add(op, &(struct count){.completions = completions, .completed_bytes = bytes});
}

static void table_print(int rank, const struct count *counts)
{
	const char *of = counts_spawned ? "\"spawned\":1," : "";

	for (const struct count *c = counts; c < counts + OPS_MAX && c->op[0]; c++) {
		printf("{\"rank\":%d,%s\"op\":\"%s\",\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64,
		       rank, of, c->op, c->calls, c->bytes);
		if (c->polls)
			printf(",\"polls\":%" PRIu64, c->polls);
		if (c->completions)
			printf(",\"completions\":%" PRIu64 ",\"completed_bytes\":%" PRIu64,
			       c->completions, c->completed_bytes);
		printf("}\n");
	}
}

/* Rank 0 prints for all: lines that several ranks write at once may come out mixed. */
void counts_print(void)
{
	struct count *all = NULL;
	int rank, ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rank == 0 && !(all = calloc((size_t)ranks, sizeof(table)))) {
		perror("counts");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	COUNT(MPI_Finalize, 0);
	COUNT(MPI_Gather, sizeof(table));
	MPI_Gather(table, sizeof(table), MPI_BYTE, all, sizeof(table), MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int r = 0; all && r < ranks; r++)
		table_print(r, all + (size_t)r * OPS_MAX);
	free(all);
}
