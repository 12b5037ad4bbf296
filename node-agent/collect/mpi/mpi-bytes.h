/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of payload by the arguments of an MPI call. */
#ifndef EVSPACE_MPI_BYTES_H
#define EVSPACE_MPI_BYTES_H

#include <mpi.h>
#include <stdint.h>

#include "node-agent/collect/mpi/mpi-comm.h"
#include "node-agent/collect/mpi/mpi-type.h"

/** Bytes of @count times @type: their payload, without gaps. */
static inline uint64_t mpi_bytes(MPI_Count count, MPI_Datatype type)
{
	if (count <= 0)
		return 0;
	if (mpi_type_is_known(type))
		return mpi_bytes_known(count, type);
	return (uint64_t)count * mpi_type_ask(type, mpi_type_entry(type));
}

/** Element @i of an array of counts of @width bytes: int, or MPI_Count in MPI_X_c(). */
static inline MPI_Count mpi_count_at(const void *counts, size_t width, uint32_t i)
{
	return width == sizeof(int) ? ((const int *)counts)[i] : ((const MPI_Count *)counts)[i];
}

/*
 * Bytes of collectives. Missing arrays are left to the real call to report. On the root side of an
 * intercommunicator only MPI_ROOT has meaningful arguments; those of a buffer MPI_IN_PLACE are the
 * other buffer's.
 */

static inline uint64_t mpi_bytes_bcast(MPI_Count count, MPI_Datatype type, int root)
{
	return root == MPI_PROC_NULL ? 0 : mpi_bytes(count, type);
}

static inline uint64_t mpi_bytes_reduce(MPI_Count count, MPI_Datatype type, int root)
{
	return root == MPI_PROC_NULL || root == MPI_ROOT ? 0 : mpi_bytes(count, type);
}

static inline uint64_t mpi_bytes_own(const void *buffer, MPI_Count count, MPI_Datatype type,
				     MPI_Count count2, MPI_Datatype type2)
{
	return buffer == MPI_IN_PLACE ? mpi_bytes(count2, type2) : mpi_bytes(count, type);
}

static inline uint64_t mpi_bytes_own_v(const struct mpi_comm *at, const void *buffer,
				       MPI_Count count, MPI_Datatype type, const void *counts2,
				       size_t width, MPI_Datatype type2)
{
	if (buffer != MPI_IN_PLACE)
		return mpi_bytes(count, type);
	return at->id && counts2
		       ? mpi_bytes(mpi_count_at(counts2, width, (uint32_t)at->rank), type2)
		       : 0;
}

static inline uint64_t mpi_bytes_rooted(int root, const void *buffer, MPI_Count count,
					MPI_Datatype type, MPI_Count count2, MPI_Datatype type2)
{
	if (root == MPI_PROC_NULL || root == MPI_ROOT)
		return 0;
	return mpi_bytes_own(buffer, count, type, count2, type2);
}

static inline uint64_t mpi_bytes_rooted_v(const struct mpi_comm *at, int root, const void *buffer,
					  MPI_Count count, MPI_Datatype type, const void *counts2,
					  size_t width, MPI_Datatype type2)
{
	if (root == MPI_PROC_NULL || root == MPI_ROOT)
		return 0;
	return mpi_bytes_own_v(at, buffer, count, type, counts2, width, type2);
}

static inline uint64_t mpi_bytes_counts(uint32_t n, const void *counts, size_t width,
					MPI_Datatype type)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; counts && i < n; i++) {
		MPI_Count count = mpi_count_at(counts, width, i);

		sum += count > 0 ? (uint64_t)count : 0;
	}
	return sum ? sum * mpi_bytes(1, type) : 0;
}

static inline uint64_t mpi_bytes_counts_w(uint32_t n, const void *counts, size_t width,
					  const MPI_Datatype types[])
{
	uint64_t sum = 0;

	for (uint32_t i = 0; counts && types && i < n; i++)
		sum += mpi_bytes(mpi_count_at(counts, width, i), types[i]);
	return sum;
}

static inline uint64_t mpi_bytes_sum(const void *buffer, uint32_t n, const void *counts,
				     size_t width, MPI_Datatype type, const void *counts2,
				     size_t width2, MPI_Datatype type2)
{
	return buffer == MPI_IN_PLACE ? mpi_bytes_counts(n, counts2, width2, type2)
				      : mpi_bytes_counts(n, counts, width, type);
}

static inline uint64_t mpi_bytes_sum_w(const void *buffer, uint32_t n, const void *counts,
				       size_t width, const MPI_Datatype types[],
				       const void *counts2, size_t width2,
				       const MPI_Datatype types2[])
{
	return buffer == MPI_IN_PLACE ? mpi_bytes_counts_w(n, counts2, width2, types2)
				      : mpi_bytes_counts_w(n, counts, width, types);
}

#endif
