/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that gets stuck: one rank stays away from what all the others wait in. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/apps/app.h"

enum { ROUNDS = 5, TAG = 7 };

static struct {
	long rank, seconds, then_exit;
	const char *in;
} want = {.rank = -1, .seconds = 30, .in = "barrier"};

static const struct app_option options[] = {
	{"rank", APP_NUMBER, &want.rank, 0, 1000000, NULL, "the rank that stays away (the last)"},
	{"seconds", APP_NUMBER, &want.seconds, 0, 1000000, NULL, "for how long (30)"},
	{"in", APP_WORD, &want.in, 0, 0, "barrier|recv", "where the others wait (barrier)"},
	{"then-exit", APP_FLAG, &want.then_exit, 0, 0, NULL,
	 "that rank then ends without MPI_Finalize, with exit code 3"},
	{0},
};

static int rank, ranks;

/* All goes well for a while, so that there is something to compare with. */
static void work(void)
{
	const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	for (int round = 0; round < ROUNDS; round++) {
		int token = rank, got = -1;

		MPI_Sendrecv(&token, 1, MPI_INT, right, TAG, &got, 1, MPI_INT, left, TAG,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* In a loop: a signal, of a tool that looks at us, must not end the sleep. */
static void sleep_through(long seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += seconds;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void stay_away(const char *before)
{
	fprintf(stderr, "stuck: rank %d sleeps before %s\n", rank, before);
	fflush(stderr);
	sleep_through(want.seconds);
	if (want.then_exit)
		_exit(3);
}

static void get_stuck_in_barrier(void)
{
	if (rank == want.rank)
		stay_away("barrier");
	MPI_Barrier(MPI_COMM_WORLD);
}

static void get_stuck_in_recv(void)
{
	int word = 0;

	if (rank != want.rank) {
		MPI_Recv(&word, 1, MPI_INT, (int)want.rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return;
	}
	stay_away("send");
	for (int to = 0; to < ranks; to++) {
		if (to != rank)
			MPI_Send(&word, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (want.rank < 0)
		want.rank = ranks - 1;
	if (parsed == APP_RUN && want.rank >= ranks)
		parsed = app_wrong("--rank %ld: there are only %d ranks", want.rank, ranks);
	if (parsed != APP_RUN) {
		if (rank == 0)
			app_explain(parsed, "One rank sleeps while all others wait for it.",
				    options);
	} else {
		work();
		if (strcmp(want.in, "barrier") == 0)
			get_stuck_in_barrier();
		else
			get_stuck_in_recv();
	}
	MPI_Finalize();
	return app_exit_code(parsed);
}
