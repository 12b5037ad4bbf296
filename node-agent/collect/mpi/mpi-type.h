/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread knows of datatypes and reductions: sizes, and what they are in signatures. */
#ifndef EVSPACE_MPI_TYPE_H
#define EVSPACE_MPI_TYPE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node-agent/collect/core/door.h"
#include "node-agent/collect/mpi/mpi-handle.h"
#include "tree/data/signature.h"

/** Sizes of datatypes, a few per thread. */
struct mpi_type_cache {
	MPI_Datatype type;
	uint32_t epoch;
	uint32_t size;
};

#define MPI_TYPE_CACHE 16

/** The datatypes, and the last reduction: most calls use the same one again. */
struct mpi_types {
	struct mpi_type_cache of[MPI_TYPE_CACHE];
	uint8_t codes[MPI_TYPE_CACHE]; /* in signatures */
	MPI_Op op;
	uint8_t op_code; /* valid if `op` is not 0, which is no handle */
};

/* In the door, like all thread-local data. */
extern __thread struct mpi_types mpi_types __asm__("evspace_door_types")
	__attribute__((tls_model("initial-exec"), visibility("default")));

_Static_assert(sizeof(mpi_types) <= DOOR_TYPES_ROOM, "the door has no room for this");

/** Changes whenever a datatype's handle may have been reused. */
extern _Atomic uint32_t mpi_type_epoch __attribute__((visibility("hidden")));

/** Ask the library for the size of @type, and cache it if it is less than 4 GiB. */
uint64_t mpi_type_ask(MPI_Datatype type, struct mpi_type_cache *entry);

/** This thread's cache entry for @type, whether filled or not. */
static inline struct mpi_type_cache *mpi_type_entry(MPI_Datatype type)
{
	return &mpi_types.of[mpi_type_hash(type) % MPI_TYPE_CACHE];
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

/** What @type, which is cached, is in signatures (tree/data/signature.h). */
static inline unsigned mpi_type_code_known(MPI_Datatype type)
{
	return mpi_types.codes[mpi_type_hash(type) % MPI_TYPE_CACHE];
}

static inline unsigned mpi_type_code(MPI_Datatype type)
{
	if (!mpi_type_is_known(type))
		mpi_type_ask(type, mpi_type_entry(type));
	return mpi_type_is_known(type) ? mpi_type_code_known(type) : SIGNATURE_NO_TYPE;
}

/** Find out what @op is in signatures. A freed handle that is used again is again one of the
 * program's own. */
unsigned mpi_op_ask(MPI_Op op);

static inline bool mpi_op_is_known(MPI_Op op)
{
	return __builtin_expect(mpi_types.op == op, 1);
}

static inline unsigned mpi_op_code_known(MPI_Op op)
{
	(void)op;
	return mpi_types.op_code;
}

static inline unsigned mpi_op_code(MPI_Op op)
{
	return mpi_op_is_known(op) ? mpi_types.op_code : mpi_op_ask(op);
}

#endif
