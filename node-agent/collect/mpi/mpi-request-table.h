/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of request records, for code that reads many of them (all else uses mpi-request.h). */
#ifndef EVSPACE_MPI_REQUEST_TABLE_H
#define EVSPACE_MPI_REQUEST_TABLE_H

#include <stddef.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/mpi/mpi-request.h"
#include "node-agent/collect/mpi/mpi-table.h"

#define MPI_REQUEST_BITS 10
#define MPI_REQUESTS	 (MPI_TABLE_WAYS << MPI_REQUEST_BITS)

/*
 * Both MPIs return one shared handle for all requests that are complete when the call returns
 * (mpi_request_is_shared). These differ only by where the program keeps the handle. So there are
 * two tables: by handle, and by the address of the variable that holds it. The second one follows
 * the first in memory.
 */
#define MPI_REQUEST_BUCKETS (1u << MPI_REQUEST_BITS)
extern struct mpi_table_bucket mpi_request_buckets[2 * MPI_REQUEST_BUCKETS];
extern _Atomic uint32_t mpi_request_seconds[2];
extern struct mpi_request mpi_request_records[2 * MPI_REQUESTS];

static const struct mpi_table mpi_requests_by_handle = {
	.buckets = mpi_request_buckets,
	.bits = MPI_REQUEST_BITS,
	.seconds = &mpi_request_seconds[0],
};
static const struct mpi_table mpi_requests_by_place = {
	.buckets = mpi_request_buckets + MPI_REQUEST_BUCKETS,
	.bits = MPI_REQUEST_BITS,
	.seconds = &mpi_request_seconds[1],
};

/** Count a record that is filled (1) or freed (-1). */
static inline void mpi_requests_book(int64_t n)
{
	collect_add(&mpi_requests_booked, (uint64_t)n);
}

/** The record of @handle, which was at @where, or NULL. Not held: no other thread may use it. */
static inline struct mpi_request *mpi_request_find(MPI_Request handle, struct mpi_place where)
{
	int slot;

	if (handle == mpi.request_null)
		return NULL;
	if (__builtin_expect(mpi_request_is_shared(handle), 0)) {
		slot = mpi_table_find(&mpi_requests_by_place, (uintptr_t)where.at);
		return slot < 0 ? NULL : &mpi_request_records[MPI_REQUESTS + (uint32_t)slot];
	}
	slot = mpi_table_find(&mpi_requests_by_handle, mpi_request_key(handle));
	return slot < 0 ? NULL : &mpi_request_records[slot];
}

/** Publish the record under @key, or free its slot (0). */
static inline void mpi_request_release(const struct mpi_request *r, uintptr_t key)
{
	mpi_table_release(&mpi_requests_by_handle, (int)(r - mpi_request_records), key);
}

/** Free the record. */
static inline void mpi_request_clear(struct mpi_request *r)
{
	mpi_requests_book(-1);
	r->kind = 0;
	mpi_request_release(r, 0);
}

#endif
