/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives (MPI-4.0 section 6.13), where the MPI has them: each started twice. */
#include "tests/conformance/suite.h"

#if MPI_VERSION >= 4
#define HAVE_LASTING 1
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
/* Open MPI 4 has them by their names of before */
#define HAVE_LASTING		      1
#define MPI_Barrier_init	      MPIX_Barrier_init
#define MPI_Bcast_init		      MPIX_Bcast_init
#define MPI_Gather_init		      MPIX_Gather_init
#define MPI_Gatherv_init	      MPIX_Gatherv_init
#define MPI_Scatter_init	      MPIX_Scatter_init
#define MPI_Scatterv_init	      MPIX_Scatterv_init
#define MPI_Allgather_init	      MPIX_Allgather_init
#define MPI_Allgatherv_init	      MPIX_Allgatherv_init
#define MPI_Alltoall_init	      MPIX_Alltoall_init
#define MPI_Alltoallv_init	      MPIX_Alltoallv_init
#define MPI_Alltoallw_init	      MPIX_Alltoallw_init
#define MPI_Reduce_init		      MPIX_Reduce_init
#define MPI_Allreduce_init	      MPIX_Allreduce_init
#define MPI_Reduce_scatter_init	      MPIX_Reduce_scatter_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Scan_init		      MPIX_Scan_init
#define MPI_Exscan_init		      MPIX_Exscan_init
#define MPI_Neighbor_allgather_init   MPIX_Neighbor_allgather_init
#define MPI_Neighbor_allgatherv_init  MPIX_Neighbor_allgatherv_init
#define MPI_Neighbor_alltoall_init    MPIX_Neighbor_alltoall_init
#define MPI_Neighbor_alltoallv_init   MPIX_Neighbor_alltoallv_init
#define MPI_Neighbor_alltoallw_init   MPIX_Neighbor_alltoallw_init
#endif
#endif

#ifdef HAVE_LASTING

enum { RANKS = 8, N = 2, ALL = RANKS * N, ROUNDS = 2 };

/* What all of them have to do with. */
struct intervals {
	int own[ALL], all[ALL], counts[RANKS], places[RANKS], bytes[RANKS];
	MPI_Datatype types[RANKS];
};

static void numbers_init(struct intervals *n, const struct suite *s)
{
	for (int i = 0; i < RANKS; i++) {
		n->counts[i] = (i + s->rank) % (N + 1);
		n->places[i] = i * N;
		n->bytes[i] = i * N * (int)sizeof(int);
		n->types[i] = MPI_INT;
	}
}

static void rounds(const struct suite *s, const char *name, struct intervals *n, MPI_Request *r)
{
	MPI_Status status;

	for (int round = 0; round < ROUNDS; round++) {
		suite_fill(n->own, ALL, s->rank, round);
		suite_fill(n->all, ALL, s->rank, 9);
		suite_mark(&status, 1);
		suite_rc(name, MPI_Start(r));
		suite_rc(name, MPI_Wait(r, round ? &status : MPI_STATUS_IGNORE));
		suite_requests(name, r, 1);
		suite_ints(name, n->own, N);
		suite_ints(name, n->all, N * s->size);
	}
	SUITE(MPI_Request_free(r));
}

#define EACH(name, ...)                                                \
	do {                                                           \
		suite_rc(#name, name(__VA_ARGS__, MPI_INFO_NULL, &r)); \
		rounds(s, #name, &n, &r);                              \
	} while (0)

static void moving(const struct suite *s)
{
	struct intervals n;
	MPI_Request r;

	numbers_init(&n, s);
	EACH(MPI_Barrier_init, s->comm);
	EACH(MPI_Bcast_init, n.own, N, MPI_INT, 0, s->comm);
	EACH(MPI_Gather_init, n.own, N, MPI_INT, n.all, N, MPI_INT, 0, s->comm);
	EACH(MPI_Scatter_init, n.all, N, MPI_INT, n.own, N, MPI_INT, 0, s->comm);
	EACH(MPI_Allgather_init, n.own, N, MPI_INT, n.all, N, MPI_INT, s->comm);
	EACH(MPI_Allgather_init, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, n.all, N, MPI_INT, s->comm);
	EACH(MPI_Alltoall_init, n.own, N, MPI_INT, n.all, N, MPI_INT, s->comm);
	EACH(MPI_Alltoallv_init, n.own, n.counts, n.places, MPI_INT, n.all, n.counts, n.places,
	     MPI_INT, s->comm);
	EACH(MPI_Alltoallw_init, n.own, n.counts, n.bytes, n.types, n.all, n.counts, n.bytes,
	     n.types, s->comm);
}

static void computing(const struct suite *s)
{
	struct intervals n;
	MPI_Request r;

	numbers_init(&n, s);
	for (int i = 0; i < RANKS; i++)
		n.counts[i] = i % (N + 1);
	EACH(MPI_Gatherv_init, n.own, n.counts[s->rank], MPI_INT, n.all, n.counts, n.places,
	     MPI_INT, 0, s->comm);
	EACH(MPI_Scatterv_init, n.all, n.counts, n.places, MPI_INT, n.own, n.counts[s->rank],
	     MPI_INT, 0, s->comm);
	EACH(MPI_Allgatherv_init, n.own, n.counts[s->rank], MPI_INT, n.all, n.counts, n.places,
	     MPI_INT, s->comm);
	EACH(MPI_Reduce_init, n.own, n.all, N, MPI_INT, MPI_SUM, 0, s->comm);
	EACH(MPI_Allreduce_init, n.own, n.all, N, MPI_INT, MPI_SUM, s->comm);
	EACH(MPI_Allreduce_init, MPI_IN_PLACE, n.all, N, MPI_INT, MPI_SUM, s->comm);
	EACH(MPI_Reduce_scatter_init, n.own, n.all, n.counts, MPI_INT, MPI_SUM, s->comm);
	EACH(MPI_Reduce_scatter_block_init, n.own, n.all, N, MPI_INT, MPI_SUM, s->comm);
	EACH(MPI_Scan_init, n.own, n.all, N, MPI_INT, MPI_SUM, s->comm);
	EACH(MPI_Exscan_init, n.own, n.all, N, MPI_INT, MPI_SUM, s->comm);
}

/* On a ring: two neighbours each, of which one is heard and one is spoken to. */
static void neighbouring(const struct suite *s)
{
	static const int counts[] = {1};
	static const int places[] = {0};
	static const MPI_Aint bytes[] = {0};
	const MPI_Datatype types[] = {MPI_INT};
	struct intervals n;
	struct suite ring = *s;
	MPI_Request r;

	numbers_init(&n, s);
	MPI_Dist_graph_create_adjacent(s->comm, 1, &s->left, MPI_UNWEIGHTED, 1, &s->right,
				       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring.comm);
	s = &ring;
	EACH(MPI_Neighbor_allgather_init, n.own, N, MPI_INT, n.all, N, MPI_INT, s->comm);
	EACH(MPI_Neighbor_allgatherv_init, n.own, 1, MPI_INT, n.all, counts, places, MPI_INT,
	     s->comm);
	EACH(MPI_Neighbor_alltoall_init, n.own, N, MPI_INT, n.all, N, MPI_INT, s->comm);
	EACH(MPI_Neighbor_alltoallv_init, n.own, counts, places, MPI_INT, n.all, counts, places,
	     MPI_INT, s->comm);
	EACH(MPI_Neighbor_alltoallw_init, n.own, counts, bytes, types, n.all, counts, bytes, types,
	     s->comm);
	SUITE(MPI_Comm_free(&ring.comm));
}

void suite_lasting(const struct suite *s)
{
	if (s->size > RANKS) {
		suite_say("too many ranks");
		return;
	}
	moving(s);
	computing(s);
	neighbouring(s);
}

#else

void suite_lasting(const struct suite *s)
{
	(void)s;
	suite_say("this MPI has none");
}

#endif
