/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends messages late, or is late to receive them, by given times: what evspace colop --messages
 * must find. Ranks 0 and 1 are about late senders, 2 and 3 about late receivers. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "tests/apps/app.h"

#define BYTES 64

static void pause_us(long us)
{
	const struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

/* Rank 1 sends to 0, which receives at once; in turn by MPI_Recv, and by MPI_Irecv and MPI_Wait. */
static void send_late(int rank, int k, long us)
{
	char data[BYTES] = {0};
	MPI_Request request;

	if (rank == 1) {
		pause_us(us);
		MPI_Send(data, BYTES, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
	} else if (k % 2) {
		MPI_Recv(data, BYTES, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Irecv(data, BYTES, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			  &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

/* Rank 3 sends to 2, which receives late: a synchronous send waits for that, a small other one
 * does not. */
static void receive_late(int rank, int k, long us)
{
	char data[BYTES] = {0};

	if (rank == 2) {
		pause_us(us);
		MPI_Recv(data, BYTES, MPI_CHAR, 3, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (k % 2) {
		MPI_Ssend(data, BYTES, MPI_CHAR, 2, 8, MPI_COMM_WORLD);
	} else {
		MPI_Send(data, BYTES, MPI_CHAR, 2, 8, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	long n = 100, late = 5000, every = 5;
	const struct app_option options[] = {
		{"messages", APP_NUMBER, &n, 1, 1000000, NULL, "how many of each pair (100)"},
		{"late", APP_NUMBER, &late, 0, 10000000, NULL, "us late (5000)"},
		{"every", APP_NUMBER, &every, 1, 1000000, NULL,
		 "only every so manieth message is late (5)"},
		{0},
	};
	enum app_parsed parsed = app_parse(argc, argv, options);
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (parsed == APP_RUN && size < 4)
		parsed = app_wrong("four ranks are needed, there are %d", size);
	if (parsed != APP_RUN) {
		if (rank == 0)
			app_explain(parsed, "Sends and receives messages late.", options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	/* all come together before each, so that nobody is late but as planned */
	for (int k = 0; k < n; k++) {
		long us = k % every == 0 ? late : 0;

		MPI_Barrier(MPI_COMM_WORLD);
		if (rank < 2)
			send_late(rank, k, us);
		else if (rank < 4)
			receive_late(rank, k, us);
	}
	MPI_Finalize();
	return 0;
}
