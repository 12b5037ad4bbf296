/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes collectives to which given ranks come late by given times, and writes down when each rank
 * came: what evspace colop must find. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/apps/app.h"

/* A rank that is late now and then. */
struct lag {
	long us;
	int rank, every, from;
};

#define LAGS_MOST 64

static struct lag lags[LAGS_MOST];
static int n_lags;

/* Read "RANK:US:EVERY:FROM,...". Returns whether it is right. */
static int lags_read(const char *text)
{
	int used;

	for (; *text; text += used) {
		struct lag *l = &lags[n_lags];

		if (n_lags == LAGS_MOST ||
		    sscanf(text, "%d:%ld:%d:%d%n", &l->rank, &l->us, &l->every, &l->from, &used) !=
			    4 ||
		    l->every < 1)
			return 0;
		n_lags++;
		used += text[used] == ',';
	}
	return 1;
}

/* How late @rank is to be in operation @k. */
static long lag_us(int rank, int k)
{
	long us = 0;

	for (int i = 0; i < n_lags; i++) {
		if (lags[i].rank == rank && k >= lags[i].from &&
		    (k - lags[i].from) % lags[i].every == 0)
			us += lags[i].us;
	}
	return us;
}

static void pause_us(long us)
{
	const struct timespec time = {us / 1000000, us % 1000000 * 1000};

	if (us > 0)
		nanosleep(&time, NULL);
}

/* Operation @k: a barrier, a sum, a broadcast and a reduction in turn, or sums alone, or the last
 * two. */
static void meet(int k, long sums, long waitless)
{
	double mine[4] = {1, 2, 3, 4}, all[4];

	switch (sums ? 1 : waitless ? 2 + k % 2 : k % 4) {
	case 0:
		MPI_Barrier(MPI_COMM_WORLD);
		break;
	case 1:
		MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		break;
	case 2:
		MPI_Bcast(mine, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		break;
	default:
		MPI_Reduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, waitless ? 1 : 0, MPI_COMM_WORLD);
		break;
	}
}

/* A line for each operation: its number on the communicator, how late the rank was to be, when it
 * came (CLOCK_MONOTONIC, ns). */
static void write_times(const char *folder, int rank, const double *came, long n)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d", folder, rank);
	file = fopen(path, "w");
	for (int k = 0; file && k < n; k++)
		fprintf(file, "%d %d %ld %.0f\n", k, rank, lag_us(rank, k), came[k] * 1e9);
	if (!file || fclose(file) != 0) {
		perror(path);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

int main(int argc, char **argv)
{
	long n = 1000, pause = 2000, sums = 0, waitless = 0;
	const char *late = "", *times = "";
	const struct app_option options[] = {
		{"operations", APP_NUMBER, &n, 1, 1000000, NULL, "how many (1000)"},
		{"pause", APP_NUMBER, &pause, 0, 1000000, NULL, "us between two of them (2000)"},
		{"sums", APP_FLAG, &sums, 0, 0, NULL, "sums alone, not all kinds in turn"},
		{"waitless", APP_FLAG, &waitless, 0, 0, NULL,
		 "broadcasts and reductions alone, so that of two ranks the first waits for "
		 "nobody"},
		{"late", APP_WORD, &late, 0, 0, NULL,
		 "RANK:US:EVERY:FROM,...: late by US in each EVERYth operation from FROM on"},
		{"times", APP_WORD, &times, 0, 0, NULL, "folder to write down when each rank came"},
		{0},
	};
	enum app_parsed parsed = app_parse(argc, argv, options);
	double *came;
	int rank;

	if (parsed == APP_RUN && !lags_read(late))
		parsed = app_wrong("--late %s is not understood", late);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (parsed != APP_RUN) {
		if (rank == 0)
			app_explain(parsed, "Makes collectives to which given ranks come late.",
				    options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	came = calloc((size_t)n, sizeof(*came));
	for (int k = 0; came && k < n; k++) {
		pause_us(pause + lag_us(rank, k));
		came[k] = app_seconds();
		meet(k, sums, waitless);
	}
	if (came && *times)
		write_times(times, rank, came, n);
	free(came);
	MPI_Finalize();
	return 0;
}
