/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a known number of MPI calls of every kind, checks that all of them did what they should,
 * and says (--json) how many they were: the oracle that collectors are compared with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/apps/app.h"
#include "tests/apps/calls.h"

static struct {
	long json, rounds;
	const char *while_there;
} want = {.rounds = 1};

static const struct app_option options[] = {
	{"json", APP_FLAG, &want.json, 0, 0, NULL, "print the counts, a line per rank and call"},
	{"rounds", APP_NUMBER, &want.rounds, 1, 1000000, NULL, "do everything so often (1)"},
	{"while", APP_WORD, &want.while_there, 0, 0, NULL,
	 "do everything again until rank 0 finds no such file"},
	{0},
};

static void calls_round(const struct calls *on)
{
	calls_p2p(on);
	calls_requests(on);
	calls_persistent(on);
	for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
		calls_collective(on, nonblocking);
		calls_vectors(on, nonblocking);
		calls_neighbour(on, nonblocking);
	}
	calls_inter(on);
	calls_types(on);
	calls_comm(on);
	calls_again(on);
	calls_general(on);
	calls_window(on);
	calls_file(on);
	calls_mpi4(on);
}

static int wants_more(const struct calls *on, long rounds)
{
	int more = rounds < want.rounds;

	if (!want.while_there)
		return more;
	more = more || access(want.while_there, F_OK) == 0;
	COUNT(MPI_Bcast, sizeof(more));
	MPI_Bcast(&more, 1, MPI_INT, 0, on->comm);
	return more;
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);
	struct calls world;

	COUNT(MPI_Init, 0);
	MPI_Init(&argc, &argv);
	calls_on(&world, MPI_COMM_WORLD);
	if (parsed != APP_RUN) {
		if (world.rank == 0)
			app_explain(parsed, "Makes, checks and counts MPI calls of every kind.",
				    options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	for (long round = 0; wants_more(&world, round); round++)
		calls_round(&world);
	if (want.json)
		counts_print();
	else if (world.rank == 0)
		printf("calls: %d ranks, all results are right\n", world.size);
	MPI_Finalize();
	return 0;
}
