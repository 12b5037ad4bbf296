/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes and frees communicators, one after the other. On each: a barrier, a message to itself, and
 * its requests end when it is free already. May wait for a file to appear before.
 */
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/apps/app.h"

static struct {
	const char *after;
	long rounds;
} want = {.rounds = 100};

static const struct app_option options[] = {
	{"rounds", APP_NUMBER, &want.rounds, 0, 100000000, NULL, "communicators (100)"},
	{"after", APP_WORD, &want.after, 0, 0, NULL, "begin when this file is there"},
	{0},
};

static int rank;

static void wait_for(const char *path)
{
	struct stat st;

	while (stat(path, &st) < 0)
		usleep(1000);
}

static void round_run(void)
{
	MPI_Request requests[2];
	int out = rank, in = -1;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Barrier(comm);
	MPI_Irecv(&in, 1, MPI_INT, rank, 1, comm, &requests[0]);
	MPI_Isend(&out, 1, MPI_INT, rank, 1, comm, &requests[1]);
	MPI_Comm_free(&comm);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	if (in != rank)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (parsed == APP_RUN) {
		if (want.after)
			wait_for(want.after);
		MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		for (long i = 0; i < want.rounds; i++)
			round_run();
	} else if (rank == 0) {
		app_explain(parsed, "Makes and frees communicators.", options);
	}
	MPI_Finalize();
	return app_exit_code(parsed);
}
