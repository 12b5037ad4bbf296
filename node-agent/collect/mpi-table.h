/* SPDX-License-Identifier: BSD-3-Clause */
/* A fixed table from MPI handles to records: lock-free, bounded work, nothing is ever allocated. */
#ifndef EVSPACE_MPI_TABLE_H
#define EVSPACE_MPI_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

/** Keys of a bucket: one cache line, so that a look is one miss. */
#define MPI_TABLE_WAYS 8

/** A slot that is being filled, or whose record somebody holds. No handle has this value. */
#define MPI_TABLE_HELD ((uintptr_t)1)

struct mpi_table_bucket {
	_Alignas(64) _Atomic uintptr_t keys[MPI_TABLE_WAYS];
};

/**
 * The keys of a table; records are an array of as many entries, by slot number, that the owner of
 * the table keeps. Each key has two buckets that it may be in. Buckets: a power of two.
 */
struct mpi_table {
	struct mpi_table_bucket *buckets;
	unsigned bits;
};

static inline uint32_t mpi_table_hash(const struct mpi_table *t, uintptr_t key, unsigned which)
{
	/* Fibonacci hashing (Knuth 6.4), a constant for each of the two buckets */
	static const uint64_t factors[] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu};

	return (uint32_t)((key >> 3) * factors[which] >> (64 - t->bits));
}

/** The slot of @key, or -1. */
static inline int mpi_table_find(const struct mpi_table *t, uintptr_t key)
{
	if (key <= MPI_TABLE_HELD)
		return -1;
	for (unsigned which = 0; which < 2; which++) {
		uint32_t b = mpi_table_hash(t, key, which);

		for (uint32_t i = 0; i < MPI_TABLE_WAYS; i++)
			if (atomic_load_explicit(&t->buckets[b].keys[i], memory_order_acquire) ==
			    key)
				return (int)(b * MPI_TABLE_WAYS + i);
	}
	return -1;
}

/** The key word of @slot. */
static inline _Atomic uintptr_t *mpi_table_key(const struct mpi_table *t, int slot)
{
	return &t->buckets[(unsigned)slot / MPI_TABLE_WAYS].keys[(unsigned)slot % MPI_TABLE_WAYS];
}

/** Hold the slot of @key, so that no one else finds it. Returns the slot, or -1. */
static inline int mpi_table_hold(const struct mpi_table *t, uintptr_t key)
{
	int slot = mpi_table_find(t, key);
	uintptr_t seen = key;

	if (slot >= 0 &&
	    !atomic_compare_exchange_strong_explicit(mpi_table_key(t, slot), &seen, MPI_TABLE_HELD,
						     memory_order_acquire, memory_order_relaxed))
		return -1;
	return slot;
}

/** Hold a slot for a record of @key: the one that has it (its record is stale), or a free one. -1:
 * none. */
static inline int mpi_table_claim(const struct mpi_table *t, uintptr_t key)
{
	int slot = mpi_table_hold(t, key);

	for (unsigned which = 0; slot < 0 && which < 2; which++) {
		uint32_t b = mpi_table_hash(t, key, which);

		for (uint32_t i = 0; slot < 0 && i < MPI_TABLE_WAYS; i++) {
			uintptr_t none = 0;

			if (!atomic_load_explicit(&t->buckets[b].keys[i], memory_order_relaxed) &&
			    atomic_compare_exchange_strong_explicit(
				    &t->buckets[b].keys[i], &none, MPI_TABLE_HELD,
				    memory_order_acquire, memory_order_relaxed))
				slot = (int)(b * MPI_TABLE_WAYS + i);
		}
	}
	return slot;
}

/** Let others find the held @slot under @key again, or under none (0): then it is free. */
static inline void mpi_table_release(const struct mpi_table *t, int slot, uintptr_t key)
{
	atomic_store_explicit(mpi_table_key(t, slot), key, memory_order_release);
}

#endif
