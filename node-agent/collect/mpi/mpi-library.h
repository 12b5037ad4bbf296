/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI library in this process, found by dlsym only, since nothing of ours is linked with
 * one. */
#ifndef EVSPACE_MPI_LIBRARY_H
#define EVSPACE_MPI_LIBRARY_H

#include "node-agent/collect/mpi/mpi-handle.h"

/** MPI functions that the collector itself calls, by their PMPI_ names: all are local. */
#define MPI_LIBRARY_FUNCTIONS(X)      \
	X(Cartdim_get)                \
	X(Comm_get_parent)            \
	X(Comm_group)                 \
	X(Comm_rank)                  \
	X(Comm_remote_group)          \
	X(Comm_size)                  \
	X(Comm_test_inter)            \
	X(Dist_graph_neighbors_count) \
	X(Get_count)                  \
	X(Get_elements_x)             \
	X(Graph_neighbors_count)      \
	X(Group_free)                 \
	X(Group_size)                 \
	X(Group_translate_ranks)      \
	X(Query_thread)               \
	X(Test_cancelled)             \
	X(Topo_test)                  \
	X(Type_size_x)                \
	MPI_F2C_FUNCTIONS(X)

/** The library's functions and predefined handles. */
struct mpi_library {
#define MPI_LIBRARY_MEMBER(name) __typeof__(PMPI_##name) *name;
	MPI_LIBRARY_FUNCTIONS(MPI_LIBRARY_MEMBER)
	MPI_Comm world, self, comm_null;
	MPI_Datatype byte, datatype_null;
	MPI_Request request_null, request_shared;
	MPI_Message message_null, message_no_proc;
	bool ready;    /* all of the above was found */
	bool multiple; /* threads may call MPI at the same time */
};

extern struct mpi_library mpi;

/** Find functions and handles. Returns whether all were found. */
bool mpi_library_find(void);

/** Does this handle stand for several requests at the same time (mpi-handle.h)? */
static inline bool mpi_request_is_shared(MPI_Request request)
{
	return mpi_request_like(request, mpi.request_shared);
}

/** Set the generated wrappers' pointers to the real functions (mpi-wrappers.c). */
void mpi_wrappers_resolve(void);

#endif
