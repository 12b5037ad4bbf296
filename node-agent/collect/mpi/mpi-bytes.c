/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the library for sizes of datatypes that are not in the thread's cache. */
#include "node-agent/collect/mpi/mpi-bytes.h"

#include "node-agent/collect/mpi/mpi-library.h"

_Atomic uint32_t mpi_type_epoch = 1;

uint64_t mpi_type_ask(MPI_Datatype type, struct mpi_type_cache *entry)
{
	uint32_t epoch = atomic_load_explicit(&mpi_type_epoch, memory_order_acquire);
	MPI_Count size = 0;

	/* The real call reports an invalid type to the program's error handler; our question
	 * would report it to that of MPI_COMM_WORLD, so do not ask. */
	if (type == mpi.datatype_null || !mpi_type_is_one(type))
		return 0;
	if (mpi.Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	/* larger ones are rare, and asked for each time */
	if (size <= UINT32_MAX)
		*entry = (struct mpi_type_cache){
			.type = type, .epoch = epoch, .size = (uint32_t)size};
	return (uint64_t)size;
}
