/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded before the collector into the wind tunnel: from the end of one exchange to that of the
 * next its calls go through the collector, or past it, in turn. At its end rank 0 prints how long
 * each such stretch took: pairs of one and the same run, whose memory and neighbours are the same.
 * A stretch is a step. Left out are steps with a check, which costs a third of one, and those in
 * which another process, or another machine, had the core of one of the ranks.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "tests/bench/library.h"
#include "tree/data/clock.h"

/* With, without, without, with: what drifts goes into both, and who comes after whom as well. */
enum { STRETCHES = 100000, WARM = 4, BLOCK = 4, DISTURBED = 500, ENOUGH = 20 };

/** The calls of the wind tunnel. */
#define CALLS(X)     \
	X(Isend)     \
	X(Irecv)     \
	X(Waitall)   \
	X(Allreduce) \
	X(Bcast)     \
	X(Finalize)

/** Through whatever is preloaded behind us, and straight to the library. */
static struct calls {
#define MEMBER(name) __typeof__(PMPI_##name) *name;
	CALLS(MEMBER)
} watched, alone;

static const struct calls *now = &watched;
static unsigned n;

/** What a stretch took, and how much of that this rank did not run. */
static struct moment {
	uint64_t wall, ran;
} since;
static uint64_t took[STRETCHES], lost[STRETCHES];
static bool begun; /* a stretch, at `since` */

static __attribute__((constructor)) void resolve(void)
{
#define RESOLVE(name)                                             \
	*(void **)&watched.name = dlsym(RTLD_NEXT, "MPI_" #name); \
	*(void **)&alone.name = library_find("PMPI_" #name);
	CALLS(RESOLVE)
}

/* All ranks count the same. */
static bool is_watched(unsigned stretch)
{
	return stretch % BLOCK == 0 || stretch % BLOCK == 3;
}

static struct moment moment_now(void)
{
	struct timespec ran;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
	return (struct moment){clock_mono_ns(),
			       (uint64_t)ran.tv_sec * 1000000000 + (uint64_t)ran.tv_nsec};
}

static void stretch_end(void)
{
	struct moment at = moment_now();

	if (begun && n < STRETCHES) {
		uint64_t wall = at.wall - since.wall, ran = at.ran - since.ran;

		took[n] = wall;
		lost[n++] = wall > ran ? wall - ran : 0;
	}
	begun = true;
	now = is_watched(n) ? &watched : &alone;
	since = at;
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	return now->Isend(buf, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	return now->Irecv(buf, count, type, from, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
	int rc = now->Waitall(count, requests, statuses);

	stretch_end();
	return rc;
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
		  MPI_Comm comm)
{
	return now->Allreduce(from, to, count, type, op, comm);
}

/* It ends a check: a block that is not whole is measured again. */
int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	int rc = now->Bcast(buf, count, type, root, comm);

	n -= n % BLOCK;
	begun = false;
	return rc;
}

/* A pair in which neither stretch was disturbed in any rank. */
static bool is_quiet(unsigned pair)
{
	return lost[pair] <= took[pair] / DISTURBED && lost[pair + 1] <= took[pair + 1] / DISTURBED;
}

static void print(unsigned pair)
{
	bool first = is_watched(pair);

	printf("stretches %llu %llu\n", (unsigned long long)took[pair + !first],
	       (unsigned long long)took[pair + first]);
}

int MPI_Finalize(void)
{
	unsigned quiet = 0;
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Allreduce(MPI_IN_PLACE, lost, (int)n, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	for (unsigned i = WARM; i + 1 < n; i += 2)
		quiet += is_quiet(i);
	/* on a busy machine all are better than next to none */
	for (unsigned i = WARM; rank == 0 && i + 1 < n; i += 2)
		if (quiet < ENOUGH || is_quiet(i))
			print(i);
	return watched.Finalize();
}
