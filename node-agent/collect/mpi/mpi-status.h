/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses: where calls store them, and what they say of a message. */
#ifndef EVSPACE_MPI_STATUS_H
#define EVSPACE_MPI_STATUS_H

#include "node-agent/collect/core/collect-tuple.h"
#include "node-agent/collect/mpi/mpi-comm.h"
#include "node-agent/collect/mpi/mpi-library.h"

/** Statuses that we provide if the program ignores them; with more requests, completions are as
 * posted. */
#define MPI_OWN_STATUSES 512

/** By the code @rc, do the statuses tell which request has failed? (Not by MPI_Error_class(),
 * which calls error handlers for invalid codes, as the program's callbacks may return.) */
static inline bool mpi_is_in_status(int rc)
{
#if defined(OPEN_MPI)
	return rc == MPI_ERR_IN_STATUS;
#else
	/* the class is in the lowest seven bits; one bit says that it is the program's own
	 * (src/include/mpir_err.h) */
	return (rc & 0x4000007f) == MPI_ERR_IN_STATUS;
#endif
}

/** Where the library is to store a status: ours if the program ignores it. */
static inline MPI_Status *mpi_status(MPI_Status *theirs, MPI_Status *own)
{
	return theirs == MPI_STATUS_IGNORE ? own : theirs;
}

/** Peer and tag of a message that was found or received (MPI-3.1 3.2.5). */
static inline void mpi_tuple_from(struct tuple *t, struct mpi_ranks ranks, const MPI_Status *status)
{
	collect_words(t, t->bytes,
		      element_word((uint32_t)mpi_ranks_peer(ranks, status->MPI_SOURCE),
				   (uint32_t)status->MPI_TAG),
		      collect_what(t));
}

/** Transferred bytes, if the status has them. */
static inline void mpi_tuple_moved(struct tuple *t, const MPI_Status *status)
{
#if defined(OPEN_MPI)
	/* what MPI_Get_count divides by the size of the type (its mpi.h) */
	t->bytes = status->_ucount;
#else
	int bytes;
	MPI_Count more;

	if (mpi.Get_count(status, mpi.byte, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED)
		t->bytes = (uint64_t)bytes;
	else if (mpi.Get_elements_x(status, mpi.byte, &more) == MPI_SUCCESS && more >= 0)
		t->bytes = (uint64_t)more;
#endif
}

/** Peer, tag and bytes of what was received. */
static inline void mpi_tuple_received(struct tuple *t, struct mpi_ranks ranks,
				      const MPI_Status *status)
{
	mpi_tuple_from(t, ranks, status);
	mpi_tuple_moved(t, status);
}

/** Statuses that the library has filled; NULL: they were ignored (MPICH's constant for that is
 * 1). */
static inline const MPI_Status *mpi_statuses_known(const MPI_Status *where)
{
	return where == MPI_STATUSES_IGNORE || where == MPI_STATUS_IGNORE ? NULL : where;
}

/** Where the library is to store @n statuses: ours if the program ignores them and they fit. */
static inline MPI_Status *mpi_statuses(MPI_Status *theirs, MPI_Status *own, int n)
{
	if (theirs != MPI_STATUSES_IGNORE || n > MPI_OWN_STATUSES)
		return theirs;
	return own;
}

#endif
