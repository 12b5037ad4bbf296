/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: the common id of all members, ranks as world ranks, numbers of collectives. */
#ifndef EVSPACE_MPI_COMM_H
#define EVSPACE_MPI_COMM_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/core/door.h"
#include "node-agent/collect/mpi/mpi-place.h"
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

/** A communicator. Constant while its handle lives, but for the counters. */
struct mpi_comm {
	struct mpi_ranks ranks;
	uint32_t id;
	int32_t rank;	    /* this process's */
	uint32_t size;	    /* of the own side */
	uint32_t peers;	    /* of the other side; the same without one */
	uint32_t neighbors; /* destinations in a topology */
	uint32_t leader;    /* world rank of rank 0; of an intercommunicator, the lower of both */
	uint32_t members;   /* segment_comm.members */
	uint32_t all;	    /* members of both sides */
	bool foreign;	    /* some members are of other worlds */
	_Atomic uint32_t made; /* communicators made from it */
	struct collect_classes classes;
};

/** How a communicator is made from its parent. */
enum mpi_comm_how {
	MPI_COMM_SAME,	/* the same members in the same order */
	MPI_COMM_SUB,	/* collective over the parent */
	MPI_COMM_GROUP, /* collective over the new one's members only */
	MPI_COMM_INTER, /* collective over two parents */
	MPI_COMM_MEET,	/* with unknown processes */
};

/** The record for operations on no communicator, or on an unknown one; its id is 0. */
extern struct mpi_comm mpi_comm_none;

/** The record of the handle with @key (mpi-handle.h), or &mpi_comm_none. Windows and files also
 * have records, like communicators of their own. */
struct mpi_comm *mpi_comm_find(uintptr_t key);

/** Changes whenever a handle may have been reused. */
extern _Atomic uint32_t mpi_comm_epoch __attribute__((visibility("hidden")));

/** A thread's last communicator: most calls use the same one again. */
struct mpi_comm_cache {
	uintptr_t key;
	struct mpi_comm *at;
	uint32_t epoch;
};

/* In the door, like all thread-local data. */
extern __thread struct mpi_comm_cache mpi_comm_last __asm__("evspace_door_comm")
	__attribute__((tls_model("initial-exec"), visibility("default")));

_Static_assert(sizeof(mpi_comm_last) <= DOOR_COMM_ROOM, "the door has no room for this");

/** Is mpi_comm_last.at the record of the handle with @key? */
static inline bool mpi_comm_is_last(uintptr_t key)
{
	uint32_t epoch = atomic_load_explicit(&mpi_comm_epoch, memory_order_relaxed);

	return __builtin_expect(mpi_comm_last.key == key, 1) &&
	       __builtin_expect(mpi_comm_last.epoch == epoch, 1);
}

static inline struct mpi_comm *mpi_comm_at(uintptr_t key)
{
	return mpi_comm_is_last(key) ? mpi_comm_last.at : mpi_comm_find(key);
}

/** The number of the collective that begins now; all members call them in the same order
 * (MPI-3.1 5.12). Not given while its class is off: later ones are then TUPLE_UNNUMBERED. */
static inline uint32_t mpi_comm_next(struct mpi_comm *at)
{
	uint32_t n = atomic_load_explicit(&at->classes.next, memory_order_relaxed);

	atomic_store_explicit(&at->classes.next, n + 1, memory_order_relaxed);
	return n;
}

/** The same for rare channels, which are numbered in every mode. */
uint32_t mpi_comm_next_rarely(struct mpi_comm *at);

/** Record MPI_COMM_WORLD and MPI_COMM_SELF, once, after MPI_Init. @world is the world's id. */
void mpi_comm_init(uint32_t world, int rank, int size);

/**
 * Record @made, which was made from @parent, whose handle is @from (MPI_COMM_NULL: only advances
 * the parent's count). @tag is that of GROUP and INTER. Makes local MPI calls; not part of the
 * path.
 */
void mpi_comm_add(MPI_Comm made, struct mpi_comm *parent, MPI_Comm from, enum mpi_comm_how how,
		  int tag);

/** The id of the next communicator made from @parent, if known beforehand; counts as made. */
uint32_t mpi_comm_id_next(struct mpi_comm *parent);

/** Record @made under an id that was agreed on before; does nothing for 0 or MPI_COMM_NULL. */
void mpi_comm_add_as(MPI_Comm made, uint32_t id);

/**
 * MPI_Comm_idup: keep a record for the communicator that will be at @where when the request is
 * complete. mpi_comm_arrived() then assigns it to the handle, or drops it if none was @made.
 * Returns NULL when there is no room.
 */
struct mpi_comm_coming *mpi_comm_expect(struct mpi_comm *parent, struct mpi_place where);
void mpi_comm_arrived(struct mpi_comm_coming *coming, bool made);

/** Record a window or file under its @key, with the parent's members. */
void mpi_comm_copy(uintptr_t key, struct mpi_comm *parent);

/** Remove a handle's record before it is freed. Returns a copy for mpi_comm_restore(). */
struct mpi_comm mpi_comm_forget(uintptr_t key);

/** Freeing has failed: record the handle again. */
void mpi_comm_restore(uintptr_t key, const struct mpi_comm *record);

/** The handle of this record was freed: its classes can be reused. */
void mpi_comm_freed(const struct mpi_comm *record);

/** A hash of a name that is never 0: the id of a world. */
uint32_t mpi_comm_name_hash(const char *name);

#endif
