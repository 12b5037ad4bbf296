/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says by evspace.h what it does, in C or C++: before MPI_Init, in threads, nested, left open,
 * after MPI_Finalize, and asks what nobody has told. With --cost it says what a call costs that
 * says something, or asks, in ns, and what a loop around nothing does. Linked with MPI or, -DALONE,
 * without.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "node-agent/collect/core/evspace.h"
#ifndef ALONE
#include <mpi.h>
#endif

enum { ITERATIONS = 5, CALLS = 2000000 };

static void *work(void *arg)
{
	evspace_region("thread", EVSPACE_BEGIN);
	for (int i = 0; i < ITERATIONS; i++) {
		evspace_region((const char *)arg, EVSPACE_BEGIN);
		evspace_region("inner", EVSPACE_BEGIN);
		evspace_region((const char *)arg, EVSPACE_END);
	}
	evspace_region("thread", EVSPACE_END);
	return NULL;
}

static void solve(void)
{
	char one[] = "one", other[] = "other";
	pthread_t thread;

	evspace_phase("setup");
	evspace_phase("solve");
	for (int i = 0; i < ITERATIONS; i++) {
		evspace_region("exchange", EVSPACE_BEGIN);
#ifndef ALONE
		MPI_Barrier(MPI_COMM_WORLD);
#endif
		evspace_region("exchange", EVSPACE_END);
		evspace_iteration((uint64_t)i);
		evspace_block((uint32_t)i);
	}
	if (pthread_create(&thread, NULL, work, other) == 0)
		pthread_join(thread, NULL);
	work(one);
	evspace_region("never begun", EVSPACE_END);
	evspace_region("never ended", EVSPACE_BEGIN);
	evspace_phase(NULL);
}

enum { NOTHING, SAYS, ASKS };

/* Of one call, over a loop without it: the best of a few. */
static double cost(int with)
{
	struct evspace_budget budget;
	double best = 1e9;

	for (int round = 0; round < 7; round++) {
		struct timespec from, to;
		double ns;

		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i < CALLS; i++) {
			if (with == SAYS)
				evspace_region("cost", i & 1);
			else if (with == ASKS)
				evspace_budget(&budget);
			__asm__ volatile("" ::: "memory");
		}
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 +
		      (double)(to.tv_nsec - from.tv_nsec)) /
		     CALLS;
		if (ns < best)
			best = ns;
	}
	return best;
}

int main(int argc, char **argv)
{
	struct evspace_budget budget;
	struct evspace_figures figures;

	evspace_region("before", EVSPACE_BEGIN);
	evspace_iteration(1);
	if (evspace_budget(&budget) || evspace_view_latest(NULL, &figures))
		return 1;
	if (argc > 1) {
		double none = cost(NOTHING), says = cost(SAYS), asks = cost(ASKS);

		printf("%.2f %.2f\n", (says > asks ? says : asks) - none, none);
		return 0;
	}
#ifndef ALONE
	MPI_Init(&argc, &argv);
#else
	(void)argv;
#endif
	solve();
#ifndef ALONE
	MPI_Finalize();
#endif
	evspace_region("after", EVSPACE_BEGIN);
	evspace_region("after", EVSPACE_END);
	evspace_phase("after");
	puts("regions: fine");
	return 0;
}
