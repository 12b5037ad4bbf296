/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts further processes while it runs, talks to them and merges with them; parents meet each
 * other through a port. Counts its calls (--json) as tests/apps/calls does.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/apps/app.h"
#include "tests/apps/calls.h"

enum { N = 16, CHILDREN = 2 };

static struct {
	long json;
} want;

static const struct app_option options[] = {
	{"json", APP_FLAG, &want.json, 0, 0, NULL, "print the counts, a line per rank and call"},
	{0},
};

/* The first parent gives, all children get. */
static void give(const struct calls *on, MPI_Comm inter, int is_child)
{
	int buf[N], root = is_child ? 0 : on->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

	calls_fill(buf, N, on->rank, 1);
	COUNT(MPI_Bcast, root == MPI_PROC_NULL ? 0 : INTS(N));
	MPI_Bcast(buf, N, MPI_INT, root, inter);
	if (is_child)
		calls_check("MPI_Bcast from the parents", buf, N, 0, 1);
}

/* The first of each side send to each other. */
static void messages(const struct calls *on, MPI_Comm inter)
{
	int out[N], in[N];

	if (on->rank > 0)
		return;
	calls_fill(out, N, 0, 2);
	COUNT(MPI_Sendrecv, INTS(N));
	counts_done("MPI_Sendrecv", 1, INTS(N));
	MPI_Sendrecv(out, N, MPI_INT, 0, 7, in, N, MPI_INT, 0, 7, inter, MPI_STATUS_IGNORE);
	calls_check("MPI_Sendrecv with the other side", in, N, 0, 2);
}

static void merge(MPI_Comm inter, int is_child)
{
	int one = 1, sum = 0, size, theirs;
	MPI_Comm all;

	MPI_Comm_size(inter, &size);
	MPI_Comm_remote_size(inter, &theirs);
	COUNT(MPI_Intercomm_merge, 0);
	MPI_Intercomm_merge(inter, is_child, &all);
	COUNT(MPI_Allreduce, INTS(1));
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	calls_must(sum == size + theirs, "MPI_Intercomm_merge: %d", sum);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&all);
}

static void use(const struct calls *on, MPI_Comm *inter, int is_child)
{
	give(on, *inter, is_child);
	messages(on, *inter);
	merge(*inter, is_child);
	COUNT(MPI_Comm_disconnect, 0);
	MPI_Comm_disconnect(inter);
}

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
		use(&world, &inter, 1);
	} else {
		inter = spawn(argv[0], world.size == 1);
		use(&world, &inter, 0);
		if (!want.json && world.rank == 0)
			printf("spawn: %d ranks, all results are right\n", world.size);
	}
	if (want.json)
		counts_print();
	MPI_Finalize();
	return 0;
}
