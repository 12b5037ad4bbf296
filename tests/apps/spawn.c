/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts further processes while it runs, talks to them and merges with them. Counts its calls
 * (--json) as tests/apps/calls does.
 */
#include <stdio.h>

#include "tests/apps/app.h"
#include "tests/apps/calls.h"
#include "tests/apps/sides.h"

enum { CHILDREN = 2 };

static struct {
	long json;
} want;

static const struct app_option options[] = {
	{"json", APP_FLAG, &want.json, 0, 0, NULL, "print the counts, a line per rank and call"},
	{0},
};

static MPI_Comm spawn(char *program, int several)
{
	char *programs[1] = {program}, *arguments[] = {NULL, NULL}, **all[1] = {arguments};
	char json[] = "--json";
	int most[1] = {CHILDREN};
	MPI_Info infos[1] = {MPI_INFO_NULL};
	MPI_Comm inter;

	if (want.json)
		arguments[0] = json;
	if (several) {
		COUNT(MPI_Comm_spawn_multiple, 0);
		MPI_Comm_spawn_multiple(1, programs, all, most, infos, 0, MPI_COMM_WORLD, &inter,
					MPI_ERRCODES_IGNORE);
	} else {
		COUNT(MPI_Comm_spawn, 0);
		MPI_Comm_spawn(program, arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
			       &inter, MPI_ERRCODES_IGNORE);
	}
	return inter;
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);
	struct calls world;
	MPI_Comm inter;

	COUNT(MPI_Init, 0);
	MPI_Init(&argc, &argv);
	calls_on(&world, MPI_COMM_WORLD);
	if (parsed != APP_RUN) {
		if (world.rank == 0)
			app_explain(parsed, "Starts further processes, and counts MPI calls.",
				    options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	COUNT(MPI_Comm_get_parent, 0);
	MPI_Comm_get_parent(&inter);
	if (inter != MPI_COMM_NULL) {
		counts_spawned = 1;
		sides_use(&world, &inter, 1);
	} else {
		inter = spawn(argv[0], world.size == 1);
		sides_use(&world, &inter, 0);
		if (!want.json && world.rank == 0)
			printf("spawn: %d ranks, all results are right\n", world.size);
	}
	if (want.json)
		counts_print();
	MPI_Finalize();
	return 0;
}
