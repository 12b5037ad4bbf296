/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of sizes of datatypes. */
#ifndef EVSPACE_MPI_TYPE_H
#define EVSPACE_MPI_TYPE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node-agent/collect/core/door.h"
#include "node-agent/collect/mpi/mpi-handle.h"

/** Sizes of datatypes, a few per thread. */
struct mpi_type_cache {
	MPI_Datatype type;
	uint32_t epoch;
	uint32_t size;
};

#define MPI_TYPE_CACHE 16

/* In the door, like all thread-local data. */
extern __thread struct mpi_type_cache mpi_types[MPI_TYPE_CACHE] __asm__("evspace_door_types")
	__attribute__((tls_model("initial-exec"), visibility("default")));

_Static_assert(sizeof(mpi_types) <= DOOR_TYPES_ROOM, "the door has no room for this");

/** Changes whenever a datatype's handle may have been reused. */
extern _Atomic uint32_t mpi_type_epoch __attribute__((visibility("hidden")));

/** Ask the library for the size of @type, and cache it if it is less than 4 GiB. */
uint64_t mpi_type_ask(MPI_Datatype type, struct mpi_type_cache *entry);

/** This thread's cache entry for @type, whether filled or not. */
static inline struct mpi_type_cache *mpi_type_entry(MPI_Datatype type)
{
	return &mpi_types[mpi_type_hash(type) % MPI_TYPE_CACHE];
}

static inline bool mpi_type_is_known(MPI_Datatype type)
{
	const struct mpi_type_cache *entry = mpi_type_entry(type);

	return __builtin_expect(entry->type == type, 1) &&
	       __builtin_expect(entry->epoch ==
					atomic_load_explicit(&mpi_type_epoch, memory_order_relaxed),
				1);
}

/** Bytes of @count times @type, whose size is cached: their payload, without gaps. */
static inline uint64_t mpi_bytes_known(MPI_Count count, MPI_Datatype type)
{
	return count > 0 ? (uint64_t)count * mpi_type_entry(type)->size : 0;
}

#endif
