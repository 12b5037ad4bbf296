/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives on a ring, a grid with borders and a graph in which one is lonely. */
#include "tests/conformance/suite.h"

enum { MOST = 4, N = 2, ALL = MOST * N };

struct shares {
	int counts[MOST], places[MOST];
	MPI_Aint bytes[MOST];
	MPI_Datatype types[MOST];
	int out[ALL], in[ALL];
};

static void shares_init(struct shares *sh, const struct suite *s, int what)
{
	for (int i = 0; i < MOST; i++) {
		sh->counts[i] = 1;
		sh->places[i] = i * N;
		sh->bytes[i] = (MPI_Aint)(i * N * (int)sizeof(int));
		sh->types[i] = MPI_INT;
	}
	suite_fill(sh->out, ALL, s->rank, what);
	suite_fill(sh->in, ALL, 0, 0);
}

static void blocking(const struct suite *s, MPI_Comm comm)
{
	struct shares sh;

	shares_init(&sh, s, 1);
	SUITE(MPI_Neighbor_allgather(sh.out, N, MPI_INT, sh.in, N, MPI_INT, comm));
	suite_ints("MPI_Neighbor_allgather", sh.in, ALL);
	shares_init(&sh, s, 2);
	SUITE(MPI_Neighbor_allgatherv(sh.out, 1, MPI_INT, sh.in, sh.counts, sh.places, MPI_INT,
				      comm));
	suite_ints("MPI_Neighbor_allgatherv", sh.in, ALL);
	shares_init(&sh, s, 3);
	SUITE(MPI_Neighbor_alltoall(sh.out, N, MPI_INT, sh.in, N, MPI_INT, comm));
	suite_ints("MPI_Neighbor_alltoall", sh.in, ALL);
	shares_init(&sh, s, 4);
	SUITE(MPI_Neighbor_alltoallv(sh.out, sh.counts, sh.places, MPI_INT, sh.in, sh.counts,
				     sh.places, MPI_INT, comm));
	suite_ints("MPI_Neighbor_alltoallv", sh.in, ALL);
	shares_init(&sh, s, 5);
	SUITE(MPI_Neighbor_alltoallw(sh.out, sh.counts, sh.bytes, sh.types, sh.in, sh.counts,
				     sh.bytes, sh.types, comm));
	suite_ints("MPI_Neighbor_alltoallw", sh.in, ALL);
	SUITE(MPI_Neighbor_allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, comm));
}

static void finish(const char *name, MPI_Request *r, const struct shares *sh)
{
	suite_rc(name, MPI_Wait(r, MPI_STATUS_IGNORE));
	suite_requests(name, r, 1);
	suite_ints(name, sh->in, ALL);
}

static void nonblocking(const struct suite *s, MPI_Comm comm)
{
	struct shares sh;
	MPI_Request r;

	shares_init(&sh, s, 1);
	SUITE(MPI_Ineighbor_allgather(sh.out, N, MPI_INT, sh.in, N, MPI_INT, comm, &r));
	finish("MPI_Ineighbor_allgather", &r, &sh);
	shares_init(&sh, s, 2);
	SUITE(MPI_Ineighbor_allgatherv(sh.out, 1, MPI_INT, sh.in, sh.counts, sh.places, MPI_INT,
				       comm, &r));
	finish("MPI_Ineighbor_allgatherv", &r, &sh);
	shares_init(&sh, s, 3);
	SUITE(MPI_Ineighbor_alltoall(sh.out, N, MPI_INT, sh.in, N, MPI_INT, comm, &r));
	finish("MPI_Ineighbor_alltoall", &r, &sh);
	shares_init(&sh, s, 4);
	SUITE(MPI_Ineighbor_alltoallv(sh.out, sh.counts, sh.places, MPI_INT, sh.in, sh.counts,
				      sh.places, MPI_INT, comm, &r));
	finish("MPI_Ineighbor_alltoallv", &r, &sh);
	shares_init(&sh, s, 5);
	SUITE(MPI_Ineighbor_alltoallw(sh.out, sh.counts, sh.bytes, sh.types, sh.in, sh.counts,
				      sh.bytes, sh.types, comm, &r));
	finish("MPI_Ineighbor_alltoallw", &r, &sh);
}

static void rings(const struct suite *s)
{
	const int dims[] = {s->size}, around[] = {1}, borders[] = {0};
	MPI_Comm ring, line;

	SUITE(MPI_Cart_create(s->comm, 1, dims, around, 0, &ring));
	blocking(s, ring);
	nonblocking(s, ring);
	SUITE(MPI_Comm_free(&ring));
	SUITE(MPI_Cart_create(s->comm, 1, dims, borders, 1, &line));
	blocking(s, line);
	SUITE(MPI_Comm_free(&line));
}

/* The last has no neighbours: its weights are MPI_WEIGHTS_EMPTY, its lists may be NULL. */
static void graphs(const struct suite *s)
{
	const int n = s->size - 1, lonely = s->rank == n;
	int left = lonely || !n ? 0 : (s->rank + n - 1) % n, right = lonely ? 0 : (s->rank + 1) % n;
	int weight = 3;
	MPI_Comm graph;

	SUITE(MPI_Dist_graph_create_adjacent(
		s->comm, !lonely, lonely ? NULL : &left, lonely ? MPI_WEIGHTS_EMPTY : &weight,
		!lonely, lonely ? NULL : &right, lonely ? MPI_WEIGHTS_EMPTY : &weight,
		MPI_INFO_NULL, 0, &graph));
	blocking(s, graph);
	nonblocking(s, graph);
	SUITE(MPI_Comm_free(&graph));
	SUITE(MPI_Dist_graph_create_adjacent(s->comm, 1, &s->left, MPI_UNWEIGHTED, 1, &s->right,
					     MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
	blocking(s, graph);
	SUITE(MPI_Comm_free(&graph));
}

void suite_neighbours(const struct suite *s)
{
	rings(s);
	graphs(s);
}
