/* SPDX-License-Identifier: BSD-3-Clause */
/* A fixed table from MPI handles to records: lock-free, bounded work, no allocation. */
#ifndef EVSPACE_MPI_TABLE_H
#define EVSPACE_MPI_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "node-agent/collect/mpi/mpi-library.h"

/** Keys of a bucket: one cache line, so that a lookup is one miss. */
#define MPI_TABLE_WAYS 8u

/** A slot that is being filled, or whose record is held. No handle has this value. */
#define MPI_TABLE_HELD ((uintptr_t)1)

struct mpi_table_bucket {
	_Alignas(64) _Atomic uintptr_t keys[MPI_TABLE_WAYS];
};

/**
 * The keys of a table. The owner of the table has an array of as many records, by slot number. Each
 * key has two possible buckets; second ones are searched only if one was ever used. There are 2 to
 * the power of `bits` buckets.
 */
struct mpi_table {
	struct mpi_table_bucket *buckets;
	unsigned bits;
	_Atomic uint32_t *seconds; /* 1: keys have been put into second buckets */
};

/** The slot where the search for @key starts, in its first or second bucket (@which). */
static inline uint32_t mpi_table_home(const struct mpi_table *t, uintptr_t key, uint32_t which)
{
	/* Fibonacci hashing (Knuth 6.4), a constant for each of the two buckets */
	static const uint64_t factors[] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu};

	return (uint32_t)((key >> 3) * factors[which] >> (64 - 3 - t->bits));
}

/** The key word of @slot. */
static inline _Atomic uintptr_t *mpi_table_key(const struct mpi_table *t, uint32_t slot)
{
	/* the same as [slot / WAYS].keys[slot % WAYS], since buckets have only keys */
	return (_Atomic uintptr_t *)(void *)t->buckets + slot;
}

/** The first slot with @key in the bucket of @home, searched from there on, or -1. */
static inline int mpi_table_look(const struct mpi_table *t, uint32_t home, uintptr_t key)
{
	const struct mpi_table_bucket *bucket = &t->buckets[home / MPI_TABLE_WAYS];

	for (uint32_t i = 0; i < MPI_TABLE_WAYS; i++) {
		uint32_t way = (home + i) % MPI_TABLE_WAYS;

		if (atomic_load_explicit(&bucket->keys[way], memory_order_acquire) == key)
			return (int)(home - home % MPI_TABLE_WAYS + way);
	}
	return -1;
}

/** The slot of @key, or -1. */
static inline int mpi_table_find(const struct mpi_table *t, uintptr_t key)
{
	uint32_t home = mpi_table_home(t, key, 0);
	int slot;

	if (key <= MPI_TABLE_HELD)
		return -1;
	/* nearly always it is the first */
	if (__builtin_expect(
		    atomic_load_explicit(mpi_table_key(t, home), memory_order_acquire) == key, 1))
		return (int)home;
	slot = mpi_table_look(t, home, key);
	if (slot < 0 && atomic_load_explicit(t->seconds, memory_order_relaxed))
		slot = mpi_table_look(t, mpi_table_home(t, key, 1), key);
	return slot;
}

/** Hold @slot if its key is still @key. Other threads use it only under MPI_THREAD_MULTIPLE. */
static inline int mpi_table_take(const struct mpi_table *t, uint32_t slot, uintptr_t key)
{
	_Atomic uintptr_t *at = mpi_table_key(t, slot);

	if (mpi.multiple)
		return atomic_compare_exchange_strong_explicit(
			at, &key, MPI_TABLE_HELD, memory_order_acquire, memory_order_relaxed);
	if (atomic_load_explicit(at, memory_order_relaxed) != key)
		return 0;
	atomic_store_explicit(at, MPI_TABLE_HELD, memory_order_relaxed);
	return 1;
}

/** Hold the slot of @key, so that no other thread finds it. Returns the slot, or -1. */
static inline int mpi_table_hold(const struct mpi_table *t, uintptr_t key)
{
	int slot = mpi_table_find(t, key);

	return slot >= 0 && mpi_table_take(t, (uint32_t)slot, key) ? slot : -1;
}

/** Hold a free slot in the bucket of @home, or -1. */
static inline int mpi_table_free(const struct mpi_table *t, uint32_t home)
{
	int slot;

	do
		slot = mpi_table_look(t, home, 0);
	while (slot >= 0 && !mpi_table_take(t, (uint32_t)slot, 0));
	return slot;
}

/** Hold a slot for a record of @key: its present slot (whose record is stale), or a free one.
 * -1: none. */
static inline int mpi_table_claim(const struct mpi_table *t, uintptr_t key)
{
	int slot = mpi_table_hold(t, key);

	if (slot < 0)
		slot = mpi_table_free(t, mpi_table_home(t, key, 0));
	if (slot < 0) {
		atomic_store_explicit(t->seconds, 1, memory_order_relaxed);
		slot = mpi_table_free(t, mpi_table_home(t, key, 1));
	}
	return slot;
}

/** Publish the held @slot under @key, or free it (0). */
static inline void mpi_table_release(const struct mpi_table *t, int slot, uintptr_t key)
{
	atomic_store_explicit(mpi_table_key(t, (uint32_t)slot), key, memory_order_release);
}

#endif
