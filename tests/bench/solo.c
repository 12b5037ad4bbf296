/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One MPI process, watched: what the preloaded collector adds to a call, by calling it (MPI_X) and
 * past it (PMPI_X) in turn. Prints nanoseconds, those of the limit, and the ratio.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/library.h"
#include "tests/bench/lttng.h"
#include "tests/bench/pairs.h"
#include "tree/data/clock.h"

enum { CALLS = 2000, POLLS = 1000, RECEIVES = 64, ROUNDS = 16 };

typedef int barrier_call(MPI_Comm);
typedef int test_call(MPI_Request *, int *, MPI_Status *);
typedef int wait_call(int, MPI_Request *, MPI_Status *);
typedef int receive_call(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static volatile uint64_t sink;
static barrier_call *other; /* what a case compares with */
static MPI_Request never;

/* All are called by an address that the linker has found, so that none is a jump further away.
 * PMPI_X is that of the library itself. */
static void *find(void *object, const char *name)
{
	void *symbol = strncmp(name, "PMPI_", 5) == 0 ? library_find(name) : dlsym(object, name);

	if (!symbol) {
		fprintf(stderr, "solo: there is no %s\n", name);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return symbol;
}

static double barriers(barrier_call *barrier)
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < CALLS; i++)
		barrier(MPI_COMM_SELF);
	return (double)(clock_mono_ns() - ns) / CALLS;
}

/* ---- limits ---- */

/* What no collector can do without, a start and an end. */
static double clocks(void)
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < CALLS; i++) {
		uint64_t start = clock_ticks(CLOCK_TICKS_TSC);

		sink = start;
		sink = clock_ticks(CLOCK_TICKS_TSC) - start;
	}
	return (double)(clock_mono_ns() - ns) / CALLS;
}

static double half_ns(void)
{
	return 0.5;
}

static double two_ns(void)
{
	return 2;
}

static double twelve_ns(void)
{
	return 12;
}

/* ---- cases ---- */

static double barrier_added(void)
{
	barrier_call *ours, *bare;

	*(void **)&ours = find(RTLD_DEFAULT, "MPI_Barrier");
	*(void **)&bare = find(RTLD_DEFAULT, "PMPI_Barrier");
	return barriers(ours) - barriers(bare);
}

static struct pairs barrier_case(size_t n)
{
	return pairs_measure(barrier_added, clocks, n);
}

static double forward_added(void)
{
	barrier_call *ours;

	*(void **)&ours = find(RTLD_DEFAULT, "MPI_Barrier");
	return barriers(ours) - barriers(other);
}

/* The run has the class switched off. */
static struct pairs off_case(size_t n)
{
	void *object = dlopen(getenv("BENCH_FORWARD"), RTLD_NOW | RTLD_LOCAL);

	if (!object) {
		fprintf(stderr, "solo: %s\n", dlerror());
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	*(void **)&other = find(object, "MPI_Barrier");
	return pairs_measure(forward_added, half_ns, n);
}

static double lttng_added(void)
{
	barrier_call *bare;

	*(void **)&bare = find(RTLD_DEFAULT, "PMPI_Barrier");
	return barriers(other) - barriers(bare);
}

static struct pairs lttng_case(size_t n)
{
	int (*is_recorded)(void);

	*(void **)&other = find(RTLD_DEFAULT, "lttng_barrier");
	*(void **)&is_recorded = find(RTLD_DEFAULT, "lttng_is_recorded");
	if (!is_recorded()) {
		fprintf(stderr, "solo: no session of LTTng records\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return pairs_measure(barrier_added, lttng_added, n);
}

static double polls(test_call *test)
{
	uint64_t ns = clock_mono_ns();
	int flag;

	for (int i = 0; i < POLLS; i++)
		test(&never, &flag, MPI_STATUS_IGNORE);
	return (double)(clock_mono_ns() - ns) / POLLS;
}

static double poll_added(void)
{
	test_call *ours, *bare;

	*(void **)&ours = find(RTLD_DEFAULT, "MPI_Test");
	*(void **)&bare = find(RTLD_DEFAULT, "PMPI_Test");
	return polls(ours) - polls(bare);
}

static struct pairs poll_case(size_t n)
{
	struct pairs result;
	int nothing;

	MPI_Irecv(&nothing, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &never);
	result = pairs_measure(poll_added, two_ns, n);
	MPI_Cancel(&never);
	MPI_Wait(&never, MPI_STATUS_IGNORE);
	return result;
}

/*
 * One receive's part of completing a batch. What a receive's completion takes is all that: finding
 * what was posted, statuses although the program ignores them, the tuple with the true source, tag
 * and bytes. Not in it: MPI_Irecv, which is an event of its own (`mpi`), and sending. The event
 * that MPI_Waitall is itself is, a 64th of it.
 */
static double completions(const char *receive_name, const char *wait_name)
{
	static int values[RECEIVES];
	MPI_Request requests[RECEIVES];
	receive_call *receive;
	wait_call *wait;
	__typeof__(PMPI_Send) *send;
	uint64_t ns = 0;

	*(void **)&send = find(RTLD_DEFAULT, "PMPI_Send");
	*(void **)&receive = find(RTLD_DEFAULT, receive_name);
	*(void **)&wait = find(RTLD_DEFAULT, wait_name);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < RECEIVES; i++)
			receive(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
		for (int i = 0; i < RECEIVES; i++)
			send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
		ns -= clock_mono_ns();
		wait(RECEIVES, requests, MPI_STATUSES_IGNORE);
		ns += clock_mono_ns();
	}
	return (double)ns / (ROUNDS * RECEIVES);
}

static double completion_added(void)
{
	return completions("MPI_Irecv", "MPI_Waitall") - completions("PMPI_Irecv", "PMPI_Waitall");
}

static struct pairs receive_case(size_t n)
{
	return pairs_measure(completion_added, twelve_ns, n);
}

static const struct {
	const char *name;
	struct pairs (*run)(size_t n);
} cases[] = {
	{"mpi", barrier_case}, {"off", off_case},	  {"lttng", lttng_case},
	{"poll", poll_case},   {"receive", receive_case},
};

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : PAIRS_FULL;
	struct pairs result;
	int known = 0;

	MPI_Init(&argc, &argv);
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		known = 1;
		result = cases[i].run(n);
		printf("figures %.3f %.3f %.4f\n", result.ns, result.limit_ns, result.ratio);
	}
	MPI_Finalize();
	return known ? 0 : 2;
}
