/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the library for the sizes of datatypes that a thread has not met lately. */
#include "node-agent/collect/mpi/mpi-bytes.h"

#include "node-agent/collect/mpi/mpi-library.h"

_Atomic uint32_t mpi_type_epoch = 1;

uint64_t mpi_type_ask(MPI_Datatype type, struct mpi_type_cache *entry)
{
	uint32_t epoch = atomic_load_explicit(&mpi_type_epoch, memory_order_acquire);
	MPI_Count size = 0;

	/* The real call complains of what is none, to whoever the program has chosen to hear that:
	 * of our question MPI_COMM_WORLD's error handler would hear. */
	if (type == mpi.datatype_null || !mpi_type_is_one(type))
		return 0;
	if (mpi.Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	/* the few that are larger are asked for each time */
	if (size <= UINT32_MAX)
		*entry = (struct mpi_type_cache){
			.type = type, .epoch = epoch, .size = (uint32_t)size};
	return (uint64_t)size;
}
