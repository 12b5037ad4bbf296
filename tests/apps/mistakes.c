/* SPDX-License-Identifier: BSD-3-Clause */
/* Twenty small programs, each with a mistake that rank 2 makes in the middle, or the same without
 * it. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/apps/app.h"

enum { MISTAKES = 20, WRONG = 2, ROUNDS = 3, WORDS = 64, LATE_MS = 100 };

static struct {
	long mistake, right, on, seconds;
} want = {.mistake = 1, .seconds = 20};

static const struct app_option options[] = {
	{"mistake", APP_NUMBER, &want.mistake, 1, MISTAKES, NULL, "which of them (1)"},
	{"right", APP_FLAG, &want.right, 0, 0, NULL, "all of them, without the mistakes"},
	{"on", APP_FLAG, &want.on, 0, 0, NULL, "then goes on as if nothing had happened"},
	{"seconds", APP_NUMBER, &want.seconds, 0, 1000, NULL,
	 "how long they stay after a mistake that has not stopped them (20)"},
	{0},
};

static int rank, ranks;
static MPI_Comm world, other, library;
static int ints[WORDS], more[WORDS * 8];
static double doubles[WORDS * 8];
static float floats[WORDS];

/* ---- each does the same on all ranks but one, if that one is `wrong` ---- */

static void sum(MPI_Comm comm)
{
	MPI_Allreduce(ints, more, 4, MPI_INT, MPI_SUM, comm);
}

static void skipped(bool wrong)
{
	if (!wrong)
		MPI_Barrier(world);
	sum(world);
}

static void extra(bool wrong)
{
	if (wrong)
		MPI_Barrier(world);
	sum(world);
}

static void other_root(bool wrong)
{
	MPI_Bcast(ints, 4, MPI_INT, wrong ? 1 : 0, world);
}

static void other_root_reduce(bool wrong)
{
	MPI_Reduce(ints, more, 4, MPI_INT, MPI_SUM, wrong ? 3 : 0, world);
}

static void other_communicator(bool wrong)
{
	MPI_Barrier(wrong ? other : world);
}

static void other_type(bool wrong)
{
	MPI_Allreduce(wrong ? (void *)doubles : ints, more, 4, wrong ? MPI_DOUBLE : MPI_INT,
		      MPI_SUM, world);
}

static void other_type_of_that_size(bool wrong)
{
	MPI_Bcast(wrong ? (void *)floats : ints, 4, wrong ? MPI_FLOAT : MPI_INT, 0, world);
}

static void other_reduction(bool wrong)
{
	MPI_Allreduce(ints, more, 4, MPI_INT, wrong ? MPI_MAX : MPI_SUM, world);
}

static void other_count(bool wrong)
{
	MPI_Bcast(ints, wrong ? 8 : 4, MPI_INT, 0, world);
}

static void other_operation(bool wrong)
{
	if (wrong)
		MPI_Reduce(ints, more, 4, MPI_INT, MPI_SUM, 0, world);
	else
		MPI_Bcast(ints, 4, MPI_INT, 0, world);
}

static void reduce_for_all(bool wrong)
{
	if (wrong)
		MPI_Reduce(ints, more, 4, MPI_INT, MPI_SUM, 0, world);
	else
		sum(world);
}

static void killed(bool wrong)
{
	if (wrong)
		raise(SIGKILL);
	sum(world);
}

/* What a library does on a communicator of its own. */
static void library_norm(void)
{
	MPI_Allreduce(doubles, doubles + WORDS, 1, MPI_DOUBLE, MPI_SUM, library);
}

static void in_library(bool wrong)
{
	if (wrong)
		library_norm();
	MPI_Barrier(world);
	if (!wrong)
		library_norm();
}

static void other_order(bool wrong)
{
	MPI_Barrier(wrong ? library : other);
	MPI_Barrier(wrong ? other : library);
}

static void nonblocking(bool wrong)
{
	MPI_Request request;

	if (!wrong) {
		MPI_Barrier(world);
		return;
	}
	MPI_Ibarrier(world, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void finalized(bool wrong)
{
	if (wrong)
		MPI_Finalize();
	MPI_Barrier(world);
}

static void receives(bool wrong)
{
	if (wrong)
		MPI_Recv(ints, 1, MPI_INT, 0, 9, world, MPI_STATUS_IGNORE);
	MPI_Barrier(world);
}

static void not_split(bool wrong)
{
	MPI_Comm part;

	if (wrong) {
		MPI_Barrier(world);
		return;
	}
	MPI_Comm_split(world, rank % 2, rank, &part);
	MPI_Comm_free(&part);
}

static void scattered(bool wrong)
{
	static const int counts[] = {4, 4, 4, 4}, at[] = {0, 4, 8, 12};

	if (wrong)
		MPI_Gather(ints, 4, MPI_INT, more, 4, MPI_INT, 0, world);
	else
		MPI_Scatterv(more, counts, at, MPI_INT, ints, 4, MPI_INT, 0, world);
}

static void never_comes(bool wrong)
{
	while (wrong)
		pause();
	sum(world);
}

static void (*const mistakes[MISTAKES])(bool) = {
	skipped,
	extra,
	other_root,
	other_root_reduce,
	other_communicator,
	other_type,
	other_type_of_that_size,
	other_reduction,
	other_count,
	other_operation,
	reduce_for_all,
	killed,
	in_library,
	other_order,
	nonblocking,
	finalized,
	receives,
	not_split,
	scattered,
	never_comes,
};

/* Something to compare with. */
static void do_right(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		MPI_Barrier(world);
		sum(world);
		library_norm();
	}
}

/* One that is late for a while makes no mistake. */
static void be_late(void)
{
	if (rank == 1)
		usleep(1000 * LATE_MS);
}

static void work(void)
{
	do_right();
	be_late();
	mistakes[want.mistake - 1](rank == WRONG);
	if (want.on)
		do_right();
	/* some mistakes hold nobody up */
	for (long s = 0; s < want.seconds; s++)
		sleep(1);
}

static void work_right(void)
{
	for (size_t i = 0; i < MISTAKES; i++) {
		do_right();
		be_late();
		mistakes[i](false);
	}
}

static enum app_parsed check(void)
{
	return ranks == 4 ? APP_RUN : app_wrong("it takes 4 ranks, not %d", ranks);
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);

	MPI_Init(&argc, &argv);
	world = MPI_COMM_WORLD;
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &ranks);
	if (parsed == APP_RUN)
		parsed = check();
	if (parsed != APP_RUN) {
		if (rank == 0)
			app_explain(parsed, "Rank 2 makes one of twenty mistakes.", options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	MPI_Comm_dup(world, &other);
	MPI_Comm_dup(world, &library);
	if (want.right)
		work_right();
	else
		work();
	MPI_Comm_free(&library);
	MPI_Comm_free(&other);
	MPI_Finalize();
	return 0;
}
