/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that changes what it does, three times, and says when: all ranks go one way until the
 * odd ones go another one; then one rank does the same again and again; then one comes late to
 * where all meet, for a quarter of the steps of a stage. Rank 0 prints "planted WHAT NS" at
 * the first step of each, of CLOCK_REALTIME.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "tests/apps/app.h"

#define STEP_US 2000
#define LATE_US 15000
#define AGAIN	20

static void rest(long us)
{
	const struct timespec t = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&t, NULL);
}

static void planted(int rank, const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (rank == 0)
		printf("planted %s %lld\n", what, now.tv_sec * 1000000000LL + now.tv_nsec);
	fflush(stdout);
}

/* Messages to itself, so that nobody waits but where all meet. Compilers would make one call of
 * several. */
__attribute__((noinline)) static void one_way(int rank)
{
	int out = 1, in = 0;

	/* one way */
	MPI_Sendrecv(&out, 1, MPI_INT, rank, 1, &in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void other_way(int rank)
{
	int out = 2, in = 0;

	/* other way */
	MPI_Sendrecv(&out, 1, MPI_INT, rank, 2, &in, 1, MPI_INT, rank, 2, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void again(int rank)
{
	int out = 3, in = 0;

	/* again */
	MPI_Sendrecv(&out, 1, MPI_INT, rank, 3, &in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	long steps = 1500, stages = 3, repeats = 2, late = 1;
	const struct app_option options[] = {
		{"steps", APP_NUMBER, &steps, 1, 1000000, .help = "of each stage; else 1,500"},
		{"stages", APP_NUMBER, &stages, 0, 3, .help = "changes; else 3"},
		{"repeats", APP_NUMBER, &repeats, 0, 1000, .help = "the rank that does; else 2"},
		{"late", APP_NUMBER, &late, 0, 1000, .help = "the rank that is; else 1"},
		{0},
	};
	static const char *const names[] = {"nothing", "route", "repeats", "late"};
	enum app_parsed parsed = app_parse(argc, argv, options);
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (parsed != APP_RUN) {
		if (rank == 0)
			app_explain(parsed, "Changes what it does, and says when.", options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	for (long step = 0; step < 3 * steps + steps / 4; step++) {
		long stage = step / steps < stages ? step / steps : stages;

		if (step % steps == 0 && step / steps <= stages)
			planted(rank, names[stage]);
		rest(stage >= 3 && rank == late ? LATE_US : STEP_US);
		if (stage >= 1 && rank % 2)
			other_way(rank);
		else
			one_way(rank);
		for (int i = 0; i < AGAIN && stage >= 2 && rank == repeats; i++)
			again(rank);
		/* all meet */
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
