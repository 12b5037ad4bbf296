/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of a communicator as world ranks. */
#ifndef EVSPACE_MPI_RANKS_H
#define EVSPACE_MPI_RANKS_H

#include <mpi.h>
#include <stdint.h>

#include "tree/data/tuple.h"

/** Translates destination ranks of a communicator (of an intercommunicator: the other side's). */
struct mpi_ranks {
	const int32_t *world; /* world ranks of all members; NULL: the same numbers */
	int32_t first;	      /* index of the first of these among all members */
	int32_t n;	      /* 0: unknown */
};

/** World rank of @rank. */
static inline int32_t mpi_ranks_peer(struct mpi_ranks ranks, int rank)
{
	if (__builtin_expect((uint32_t)rank < (uint32_t)ranks.n, 1))
		return ranks.world ? ranks.world[ranks.first + rank] : ranks.first + rank;
	return rank == MPI_ANY_SOURCE ? TUPLE_ANY_PEER : TUPLE_NO_PEER;
}

#endif
