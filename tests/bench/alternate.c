/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded before the collector into the wind tunnel: between two broadcasts its calls go through
 * the collector, or past it, in turn. At its end rank 0 prints how long each stretch took: pairs of
 * one and the same run, whose memory and neighbours are the same.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/bench/library.h"
#include "tree/clock.h"

enum { STRETCHES = 100000, WARM = 4 };

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
static uint64_t since, took[STRETCHES];
static unsigned n;

static __attribute__((constructor)) void resolve(void)
{
#define RESOLVE(name)                                             \
	*(void **)&watched.name = dlsym(RTLD_NEXT, "MPI_" #name); \
	*(void **)&alone.name = library_find("PMPI_" #name);
	CALLS(RESOLVE)
}

/* With, without, without, with: what drifts goes into both. All ranks count the same. */
static int is_watched(unsigned stretch)
{
	return stretch % 4 == 0 || stretch % 4 == 3;
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
	return now->Waitall(count, requests, statuses);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
		  MPI_Comm comm)
{
	return now->Allreduce(from, to, count, type, op, comm);
}

int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	int rc = now->Bcast(buf, count, type, root, comm);
	uint64_t ns = clock_mono_ns();

	if (n < STRETCHES)
		took[n++] = ns - since;
	now = is_watched(n) ? &watched : &alone;
	since = ns;
	return rc;
}

int MPI_Finalize(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (unsigned i = WARM; rank == 0 && i + 1 < n; i += 2)
		printf("stretches %llu %llu\n", (unsigned long long)took[is_watched(i) ? i : i + 1],
		       (unsigned long long)took[is_watched(i) ? i + 1 : i]);
	return watched.Finalize();
}
