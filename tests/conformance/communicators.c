/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made in every way, by some or all; topologies; what each says of itself. */
#include "tests/conformance/suite.h"

/* Who is in it, and that it works. */
static void comm_look(const char *name, MPI_Comm comm)
{
	int rank = -1, size = -1, inter = -1, topology = -1, sum;

	if (comm == MPI_COMM_NULL) {
		suite_say("%s: MPI_COMM_NULL", name);
		return;
	}
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Comm_test_inter(comm, &inter);
	MPI_Topo_test(comm, &topology);
	sum = rank + 1;
	suite_rc(name, MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm));
	suite_say("%s: rank %d of %d, inter %d, topology %s, sum %d", name, rank, size, inter,
		  topology == MPI_CART	       ? "cart"
		  : topology == MPI_GRAPH      ? "graph"
		  : topology == MPI_DIST_GRAPH ? "dist graph"
					       : "none",
		  sum);
}

static void comm_end(const char *name, MPI_Comm *comm)
{
	comm_look(name, *comm);
	if (*comm == MPI_COMM_NULL)
		return;
	suite_rc(name, MPI_Comm_free(comm));
	suite_say("%s: freed %d", name, *comm == MPI_COMM_NULL);
}

static void copies(const struct suite *s)
{
	MPI_Comm comm = MPI_COMM_NULL;
	MPI_Request r;
	MPI_Info info;

	SUITE(MPI_Comm_dup(s->comm, &comm));
	comm_end("MPI_Comm_dup", &comm);
	SUITE(MPI_Info_create(&info));
	SUITE(MPI_Info_set(info, "color", "blue"));
	SUITE(MPI_Comm_dup_with_info(s->comm, info, &comm));
	SUITE(MPI_Comm_set_info(comm, info));
	comm_end("MPI_Comm_dup_with_info", &comm);
	SUITE(MPI_Comm_dup_with_info(s->comm, MPI_INFO_NULL, &comm));
	SUITE(MPI_Comm_disconnect(&comm));
	suite_say("MPI_Comm_disconnect: %d", comm == MPI_COMM_NULL);
	SUITE(MPI_Comm_idup(s->comm, &comm, &r));
	SUITE(MPI_Wait(&r, MPI_STATUS_IGNORE));
	comm_end("MPI_Comm_idup", &comm);
#if MPI_VERSION >= 4
	SUITE(MPI_Comm_idup_with_info(s->comm, info, &comm, &r));
	SUITE(MPI_Wait(&r, MPI_STATUS_IGNORE));
	comm_end("MPI_Comm_idup_with_info", &comm);
#endif
	SUITE(MPI_Info_free(&info));
}

static void parts(const struct suite *s)
{
	MPI_Comm comm = MPI_COMM_NULL, again;
	MPI_Group world, some;
	int last = s->size - 1;

	SUITE(MPI_Comm_split(s->comm, s->rank % 2, -s->rank, &comm));
	comm_look("MPI_Comm_split", comm);
	SUITE(MPI_Comm_dup(comm, &again));
	comm_end("copy of a part", &again);
	comm_end("MPI_Comm_split", &comm);
	SUITE(MPI_Comm_split(s->comm, s->rank ? 4 : MPI_UNDEFINED, 0, &comm));
	comm_end("MPI_Comm_split without 0", &comm);
	SUITE(MPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
	comm_end("MPI_Comm_split_type", &comm);
	SUITE(MPI_Comm_group(s->comm, &world));
	SUITE(MPI_Group_excl(world, 1, &last, &some));
	SUITE(MPI_Comm_create(s->comm, some, &comm));
	comm_end("MPI_Comm_create", &comm);
	if (s->rank != last) {
		SUITE(MPI_Comm_create_group(s->comm, some, 7, &comm));
		comm_end("MPI_Comm_create_group", &comm);
	}
	SUITE(MPI_Comm_create(s->comm, MPI_GROUP_EMPTY, &comm));
	comm_end("MPI_Comm_create of nobody", &comm);
	SUITE(MPI_Group_free(&some));
	SUITE(MPI_Group_free(&world));
}

/* Of a group alone, without a communicator above it (MPI-4.0 7.4.2). */
static void of_groups(const struct suite *s)
{
#if MPI_VERSION >= 4
	const int even = s->rank % 2 == 0;
	MPI_Group world, mine, theirs;
	MPI_Comm comm;

	SUITE(MPI_Comm_group(s->comm, &world));
	SUITE(MPI_Comm_create_from_group(world, "suite", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
	comm_end("MPI_Comm_create_from_group", &comm);
	SUITE(MPI_Comm_split(s->comm, even, s->rank, &comm));
	SUITE(MPI_Comm_group(comm, &mine));
	SUITE(MPI_Group_difference(world, mine, &theirs));
	SUITE(MPI_Comm_free(&comm));
	SUITE(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "between", MPI_INFO_NULL,
					       MPI_ERRORS_RETURN, &comm));
	SUITE(MPI_Barrier(comm));
	SUITE(MPI_Comm_free(&comm));
	SUITE(MPI_Group_free(&theirs));
	SUITE(MPI_Group_free(&mine));
	SUITE(MPI_Group_free(&world));
#else
	(void)s;
#endif
}

static void grids(const struct suite *s)
{
	int dims[2] = {0, 0}, remain[] = {1, 0}, position[2] = {-1, -1}, from, to;
	const int periods[] = {1, 0};
	MPI_Comm grid, row;

	SUITE(MPI_Dims_create(s->size, 2, dims));
	SUITE(MPI_Cart_create(s->comm, 2, dims, periods, 1, &grid));
	SUITE(MPI_Cart_coords(grid, s->rank, 2, position));
	suite_ints("position", position, 2);
	SUITE(MPI_Cart_shift(grid, 0, 1, &from, &to));
	suite_say("from %d to %d", from, to);
	SUITE(MPI_Cart_sub(grid, remain, &row));
	comm_end("MPI_Cart_sub", &row);
	comm_end("MPI_Cart_create", &grid);
	dims[0] = 1;
	dims[1] = 1;
	SUITE(MPI_Cart_create(s->comm, 2, dims, periods, 0, &grid));
	comm_end("MPI_Cart_create of one", &grid);
}

static void graphs(const struct suite *s)
{
	enum { RANKS = 8 };
	int index[RANKS], edges[RANKS], degree = 1, near[2] = {-1, -1}, in, out, weighted;
	int weight = 5 + s->rank;
	MPI_Comm graph;

	for (int i = 0; i < s->size && i < RANKS; i++) {
		index[i] = i + 1;
		edges[i] = (i + 1) % s->size;
	}
	SUITE(MPI_Graph_create(s->comm, s->size, index, edges, 0, &graph));
	SUITE(MPI_Graph_neighbors(graph, s->rank, 1, near));
	suite_ints("neighbours", near, 1);
	comm_end("MPI_Graph_create", &graph);
	SUITE(MPI_Dist_graph_create(s->comm, 1, &s->rank, &degree, &s->right, MPI_UNWEIGHTED,
				    MPI_INFO_NULL, 0, &graph));
	SUITE(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
	suite_say("in %d out %d weighted %d", in, out, weighted);
	comm_end("MPI_Dist_graph_create", &graph);
	SUITE(MPI_Dist_graph_create(s->comm, 1, &s->rank, &degree, &s->right, &weight,
				    MPI_INFO_NULL, 0, &graph));
	SUITE(MPI_Dist_graph_neighbors(graph, 1, &in, &near[0], 1, &out, &near[1]));
	suite_ints("weights", near, 2);
	comm_end("MPI_Dist_graph_create", &graph);
	SUITE(MPI_Dist_graph_create(s->comm, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
				    0, &graph));
	comm_end("MPI_Dist_graph_create of nothing", &graph);
	SUITE(MPI_Dist_graph_create_adjacent(s->comm, 1, &s->left, &weight, 1, &s->right, &weight,
					     MPI_INFO_NULL, 0, &graph));
	comm_end("MPI_Dist_graph_create_adjacent", &graph);
}

void suite_communicators(const struct suite *s)
{
	comm_look("world", s->comm);
	comm_look("self", MPI_COMM_SELF);
	copies(s);
	parts(s);
	of_groups(s);
	grids(s);
	graphs(s);
	/* many, made and freed: handles come again */
	for (int i = 0; i < 40; i++) {
		MPI_Comm comm;

		MPI_Comm_split(s->comm, s->rank <= i % s->size, i, &comm);
		if (i % 10 == 0)
			comm_look("one of many", comm);
		MPI_Comm_free(&comm);
	}
}
