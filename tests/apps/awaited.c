/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives messages by requests, from a sender that is late by given times, and waits for them in
 * each way that MPI has; prints how long that took: what evspace colop --messages must find. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/apps/app.h"

#define BYTES 64
#define TAG   7

/* Ways to wait, in turn. Those that poll wait for nobody: the program could do something else. */
enum way { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTANY, WAYS };

static const char *const names[WAYS] = {"MPI_Wait",	"MPI_Waitall", "MPI_Waitany",
					"MPI_Waitsome", "MPI_Test",    "MPI_Testany"};

static double waited[WAYS];

static void pause_us(long us)
{
	const struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

/* Wait for the two of @r. */
static void await(enum way way, MPI_Request r[2])
{
	int left = 2, one, indices[2], flag;

	while (left > 0) {
		switch (way) {
		case WAIT:
			MPI_Wait(&r[--left], MPI_STATUS_IGNORE);
			break;
		case WAITALL:
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
			left = 0;
			break;
		case WAITANY:
			MPI_Waitany(2, r, &one, MPI_STATUS_IGNORE);
			left--;
			break;
		case WAITSOME:
			MPI_Waitsome(2, r, &one, indices, MPI_STATUSES_IGNORE);
			left -= one;
			break;
		case TEST:
			MPI_Test(&r[left - 1], &flag, MPI_STATUS_IGNORE);
			left -= flag;
			break;
		default:
			MPI_Testany(2, r, &one, &flag, MPI_STATUS_IGNORE);
			left -= flag;
			break;
		}
	}
}

/* Even ranks get two messages of the next one, which sends the second one late. */
static void exchange(int rank, long k, long us)
{
	char data[2][BYTES] = {{0}};
	enum way way = (enum way)(k % WAYS);
	MPI_Request r[2];
	double start;

	if (rank % 2) {
		MPI_Send(data[0], BYTES, MPI_CHAR, rank - 1, TAG, MPI_COMM_WORLD);
		pause_us(us);
		MPI_Send(data[1], BYTES, MPI_CHAR, rank - 1, TAG, MPI_COMM_WORLD);
		return;
	}
	for (int i = 0; i < 2; i++)
		MPI_Irecv(data[i], BYTES, MPI_CHAR, rank + 1, TAG, MPI_COMM_WORLD, &r[i]);
	start = app_seconds();
	await(way, r);
	waited[way] += app_seconds() - start;
}

int main(int argc, char **argv)
{
	long n = 120, late = 2000;
	const struct app_option options[] = {
		{"times", APP_NUMBER, &n, 1, 10000000, NULL, "how many exchanges (120)"},
		{"late", APP_NUMBER, &late, 0, 10000000, NULL, "us late (2000)"},
		{0},
	};
	enum app_parsed parsed = app_parse(argc, argv, options);
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (parsed == APP_RUN && size % 2)
		parsed = app_wrong("an even number of ranks is needed, there are %d", size);
	if (parsed != APP_RUN) {
		if (rank == 0)
			app_explain(parsed, "Waits in each way for messages that come late.",
				    options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	for (long k = 0; k < n; k++) {
		MPI_Barrier(MPI_COMM_WORLD);
		exchange(rank, k, late);
	}
	for (int way = 0; way < WAYS && rank % 2 == 0; way++)
		printf("%d %s %.0f\n", rank, names[way], waited[way] * 1e9);
	MPI_Finalize();
	return 0;
}
