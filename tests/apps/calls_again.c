/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives: prepared once, started again and again (MPI-4, before that MPIX_). */
#include <stdlib.h>

#include "tests/apps/calls.h"

#if MPI_VERSION >= 4
#define INIT(name) MPI_##name##_init
#else
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#endif

enum { N = 6, STARTS = 2 };

/* What one rank needs for all of them. */
struct plan {
	int *out, *in;	      /* N for each rank, or for each neighbour */
	int *counts, *starts; /* N of each */
	MPI_Datatype *types;
	MPI_Aint *places;
};

/* MPICH 4.0.2 cannot start it a second time with more than two ranks ("Invalid communicator"). */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
#define SCATTER_STARTS 1
#else
#define SCATTER_STARTS STARTS
#endif

#define AGAIN(...) STARTED(STARTS, __VA_ARGS__)

#define STARTED(n, name, bytes, ...)                                     \
	do {                                                             \
		MPI_Request again;                                       \
		COUNT(MPI_##name##_init, 0);                             \
		INIT(name)(__VA_ARGS__, MPI_INFO_NULL, &again);          \
		for (int start = 0; start < (n); start++) {              \
			COUNT(MPI_Start, bytes);                         \
			MPI_Start(&again);                               \
			calls_wait("MPI_" #name "_init", &again, bytes); \
		}                                                        \
		COUNT(MPI_Request_free, 0);                              \
		MPI_Request_free(&again);                                \
	} while (0)

static void plan_make(struct plan *p, int parts)
{
	p->out = calloc((size_t)parts * N, sizeof(int));
	p->in = calloc((size_t)parts * N, sizeof(int));
	p->counts = calloc((size_t)parts, sizeof(int));
	p->starts = calloc((size_t)parts, sizeof(int));
	p->types = calloc((size_t)parts, sizeof(MPI_Datatype));
	p->places = calloc((size_t)parts, sizeof(MPI_Aint));
	calls_must(p->out && p->in && p->counts && p->starts && p->types && p->places, "no memory");
	for (int i = 0; i < parts; i++) {
		p->counts[i] = N;
		p->starts[i] = i * N;
		p->types[i] = MPI_INT;
		p->places[i] = (MPI_Aint)(INTS(N) * (unsigned)i);
	}
}

static void plan_free(struct plan *p)
{
	free(p->out);
	free(p->in);
	free(p->counts);
	free(p->starts);
	free(p->types);
	free(p->places);
}

static void rooted(const struct calls *on, const struct plan *p)
{
	calls_fill(p->out, N, on->rank, 1);
	AGAIN(Barrier, 0, on->comm);
	AGAIN(Bcast, INTS(N), p->in, N, MPI_INT, 0, on->comm);
	AGAIN(Gather, INTS(N), p->out, N, MPI_INT, p->in, N, MPI_INT, 0, on->comm);
	if (on->rank == 0)
		calls_check("MPI_Gather_init", p->in + p->starts[on->size - 1], N, on->size - 1, 1);
	AGAIN(Gatherv, INTS(N), p->out, N, MPI_INT, p->in, p->counts, p->starts, MPI_INT, 0,
	      on->comm);
	STARTED(SCATTER_STARTS, Scatter, INTS(N), p->in, N, MPI_INT, p->out, N, MPI_INT, 0,
		on->comm);
	calls_check("MPI_Scatter_init", p->out, N, on->rank, 1);
	AGAIN(Scatterv, INTS(N), p->in, p->counts, p->starts, MPI_INT, p->out, N, MPI_INT, 0,
	      on->comm);
	AGAIN(Reduce, INTS(N), p->out, p->in, N, MPI_INT, MPI_MAX, 0, on->comm);
}

static void all(const struct calls *on, const struct plan *p)
{
	const int n = on->size;

	calls_fill(p->out, N, on->rank, 2);
	AGAIN(Allgather, INTS(N), p->out, N, MPI_INT, p->in, N, MPI_INT, on->comm);
	calls_check("MPI_Allgather_init", p->in + p->starts[on->left], N, on->left, 2);
	AGAIN(Allgatherv, INTS(N), p->out, N, MPI_INT, p->in, p->counts, p->starts, MPI_INT,
	      on->comm);
	AGAIN(Alltoall, INTS(N * n), p->out, N, MPI_INT, p->in, N, MPI_INT, on->comm);
	AGAIN(Alltoallv, INTS(N * n), p->out, p->counts, p->starts, MPI_INT, p->in, p->counts,
	      p->starts, MPI_INT, on->comm);
	for (int i = 0; i < n; i++)
		p->starts[i] *= (int)sizeof(int);
	AGAIN(Alltoallw, INTS(N * n), p->out, p->counts, p->starts, p->types, p->in, p->counts,
	      p->starts, p->types, on->comm);
	for (int i = 0; i < n; i++)
		p->starts[i] /= (int)sizeof(int);
	AGAIN(Allreduce, INTS(N), p->out, p->in, N, MPI_INT, MPI_MIN, on->comm);
	calls_check("MPI_Allreduce_init", p->in, N, 0, 2);
	AGAIN(Reduce_scatter, INTS(N * n), p->out, p->in, p->counts, MPI_INT, MPI_MAX, on->comm);
	AGAIN(Reduce_scatter_block, INTS(N * n), p->out, p->in, N, MPI_INT, MPI_MAX, on->comm);
	AGAIN(Scan, INTS(N), p->out, p->in, N, MPI_INT, MPI_MAX, on->comm);
	AGAIN(Exscan, INTS(N), p->out, p->in, N, MPI_INT, MPI_MAX, on->comm);
}

/* On a ring: from and to the left and the right. */
static void neighbours(const struct calls *on)
{
	int dims[1] = {on->size}, periods[1] = {1};
	struct plan p;
	MPI_Comm ring;

	plan_make(&p, 2);
	COUNT(MPI_Cart_create, 0);
	MPI_Cart_create(on->comm, 1, dims, periods, 0, &ring);
	calls_fill(p.out, N, on->rank, 3);
	AGAIN(Neighbor_allgather, INTS(N), p.out, N, MPI_INT, p.in, N, MPI_INT, ring);
	calls_check("MPI_Neighbor_allgather_init", p.in, N, on->left, 3);
	AGAIN(Neighbor_allgatherv, INTS(N), p.out, N, MPI_INT, p.in, p.counts, p.starts, MPI_INT,
	      ring);
	AGAIN(Neighbor_alltoall, INTS(2 * N), p.out, N, MPI_INT, p.in, N, MPI_INT, ring);
	AGAIN(Neighbor_alltoallv, INTS(2 * N), p.out, p.counts, p.starts, MPI_INT, p.in, p.counts,
	      p.starts, MPI_INT, ring);
	AGAIN(Neighbor_alltoallw, INTS(2 * N), p.out, p.counts, p.places, p.types, p.in, p.counts,
	      p.places, p.types, ring);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&ring);
	plan_free(&p);
}

void calls_again(const struct calls *on)
{
	struct plan p;

	plan_make(&p, on->size);
	rooted(on, &p);
	all(on, &p);
	plan_free(&p);
	neighbours(on);
}
