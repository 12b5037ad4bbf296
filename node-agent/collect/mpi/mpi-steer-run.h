/* SPDX-License-Identifier: BSD-3-Clause */
/* How steered collectives run: messages along a route of a communicator's members. */
#ifndef EVSPACE_MPI_STEER_RUN_H
#define EVSPACE_MPI_STEER_RUN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "node-agent/collect/mpi/mpi-comm.h"
#include "node-agent/collect/mpi/steer-set.h"

/** Functions of the library that steering needs, by their PMPI_ names. */
#define STEER_FUNCTIONS(X)      \
	X(Allgather)            \
	X(Allreduce)            \
	X(Barrier)              \
	X(Bcast)                \
	X(Comm_call_errhandler) \
	X(Comm_create_keyval)   \
	X(Comm_free)            \
	X(Comm_get_attr)        \
	X(Comm_set_attr)        \
	X(Comm_set_errhandler)  \
	X(Comm_split)           \
	X(Finalize)             \
	X(Gather)               \
	X(Iallreduce)           \
	X(Irecv)                \
	X(Isend)                \
	X(Op_commutative)       \
	X(Pack)                 \
	X(Reduce)               \
	X(Reduce_local)         \
	X(Scatter)              \
	X(Type_get_extent)      \
	X(Type_get_true_extent) \
	X(Unpack)               \
	X(Wait)                 \
	X(Waitall)              \
	X(Waitany)

struct steer_library {
#define STEER_MEMBER(name) __typeof__(PMPI_##name) *name;
	STEER_FUNCTIONS(STEER_MEMBER)
	MPI_Op op_null, op_min;
	MPI_Datatype int64;
	MPI_Errhandler errors_return;
};

extern struct steer_library steer_mpi;

/** Rules as they are for one communicator. */
struct steer_way {
	struct steer_set *set;			    /* NULL: there are none */
	struct steer_route routes[STEER_RULES_MAX]; /* n 0: the rule is not for it */
};

/** A communicator whose collectives are steered. One of its members' threads uses it at a time
 * (MPI-3.1 5.13). */
struct steered {
	LIST_ENTRY(steered) link;
	MPI_Comm shadow; /* of the same members, for messages; MPI_COMM_NULL: it is left alone */
	int n, me;
	int32_t *world; /* their ranks in the world */
	bool is_world;
	int n_routes;	       /* at its first call */
	struct steer_way now;  /* in force on all members */
	struct steer_way next; /* that is voted about */
	uint32_t calls;	       /* that could be steered */
	bool votes;
	MPI_Request vote;
	int64_t said[2], heard[2]; /* the name of a set, and its complement: the least of each */
	MPI_Request *requests;	   /* two for each member */
	int *of;		   /* and whom each one is of */
	char *room;
	size_t room_bytes;
};

/** One call. */
struct steer_call {
	struct steered *on;
	const struct steer_route *route;
	bool in_order; /* reductions by the order of ranks */
	/* what is recorded, if it is: */
	struct mpi_comm *at; /* NULL: it is not */
	uint32_t number;
	uint32_t collected; /* bits of enum steer_stage */
	int pending;	    /* requests that are under way */
	uint64_t sending;   /* since when, of those that send; 0: not known */
};

/* The operations, with the arguments of MPI's; each returns MPI_SUCCESS or an error of the library.
 * Buffers may be MPI_IN_PLACE where MPI allows it. */
int steer_barrier(struct steer_call *c);
int steer_bcast(struct steer_call *c, void *buffer, int count, MPI_Datatype type, int root);
int steer_reduce(struct steer_call *c, const void *send, void *recv, int count, MPI_Datatype type,
		 MPI_Op op, int root);
int steer_allreduce(struct steer_call *c, const void *send, void *recv, int count,
		    MPI_Datatype type, MPI_Op op);

/** A buffer of one member's data, or, of all members', the first of them. */
struct steer_data {
	void *at;
	int count;
	MPI_Datatype type;
};

/** @own is this member's, @all what the root has of all (of others not looked at); @bytes is the
 * size of one member's. */
int steer_gather(struct steer_call *c, struct steer_data own, struct steer_data all, size_t bytes,
		 int root);
int steer_scatter(struct steer_call *c, struct steer_data own, struct steer_data all, size_t bytes,
		  int root);
int steer_allgather(struct steer_call *c, struct steer_data own, struct steer_data all,
		    size_t bytes);

#endif
