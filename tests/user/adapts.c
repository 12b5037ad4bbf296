/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that adapts: it exchanges less often while what looking and collecting cost is above
 * the budget, or not known, by evspace_budget(), and knows its own exchanges by
 * evspace_view_latest(). Says what it was told, and what it does. Ends when it was told both, or
 * after so many seconds; with --stay only then.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/collect/core/evspace.h"

enum { WORK_MOST = 64, ROOT = 0 };

static void compute(int work)
{
	for (double until = MPI_Wtime() + 1e-4 * work; MPI_Wtime() < until;)
		;
}

/* Units of work between two exchanges, as all ranks do it. Of the one that decides. */
static int adapt(int work)
{
	struct evspace_budget told;

	if (!evspace_budget(&told))
		return 1;
	if (told.high <= told.budget)
		return work > 1 ? work / 2 : 1;
	return work < WORK_MOST ? 2 * work : WORK_MOST;
}

static int say_budget(void)
{
	struct evspace_budget told;

	if (!evspace_budget(&told))
		return 0;
	printf("budget %g %%, slowdown %g to %g %%, %g looks a second, said %s;", 100 * told.budget,
	       100 * told.low, 100 * told.high, told.rate_hz,
	       told.age_s < 10 ? "just now" : "once");
	for (int i = 0; i < told.n_modes; i++)
		if (!strcmp(told.modes[i].name, "collective"))
			printf(" collectives: %s\n", told.modes[i].mode);
	return 1;
}

static int say_view(const char *view)
{
	struct evspace_figures its;
	int said = 0;

	if (!evspace_view_latest(view, &its))
		return 0;
	for (int i = 0; i < its.n; i++)
		if (!strcmp(its.operations[i].name, "MPI_Allreduce") && its.operations[i].count &&
		    its.operations[i].most_s >= its.operations[i].mean_s && its.wave)
			said = printf("view %s: MPI_Allreduce %llu bytes each, %s\n", view,
				      (unsigned long long)(its.operations[i].bytes /
							   its.operations[i].count),
				      its.operations[i].most_s > 0 ? "some time" : "no time");
	return said > 0;
}

int main(int argc, char **argv)
{
	int rank, work = 1, coarsest = 1, told = 0, going = 1;
	double until, sum, one = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	until = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 60);
	while (going) {
		compute(work);
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (rank == ROOT) {
			work = adapt(work);
			coarsest = work > coarsest ? work : coarsest;
			told |= !(told & 1) && say_budget();
			told |= !(told & 2) && say_view("events") ? 2 : 0;
			going = MPI_Wtime() < until && (told != 3 || coarsest == 1 || argc > 2);
		}
		MPI_Bcast(&work, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
		MPI_Bcast(&going, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
	}
	if (rank == ROOT)
		printf("adapts: told %s, %d units of work between exchanges at most\n",
		       told == 3 ? "both"
		       : told	 ? "one"
				 : "nothing",
		       coarsest);
	MPI_Finalize();
	return 0;
}
