/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations and their groups: numbers, names and channels, all from the table
 * tree/data/ops.tab. */
#ifndef EVSPACE_OP_H
#define EVSPACE_OP_H

#include <stdint.h>

/** Operation groups: by default each thread has one trace element (a channel) per group, so that
 * frequent operations do not push out rare ones. Numbers are part of the segment layout. */
enum channel {
	CHANNEL_P2P,	    /* sends and receives, and the starting of nonblocking ones */
	CHANNEL_COLLECTIVE, /* collectives, and the starting of nonblocking ones */
	CHANNEL_WAIT,	    /* Wait and Test calls */
	CHANNEL_COMPLETION, /* one tuple per completed request */
	CHANNEL_COMM,	    /* communicator creation */
	CHANNEL_ENV,	    /* initialisation and finalisation */
	CHANNEL_RMA,	    /* one-sided communication and its synchronisation */
	CHANNEL_IO,	    /* files */
	CHANNEL_USER,	    /* what the program records itself by evspace.h */
	CHANNEL_PACK,	    /* packing and unpacking of messages (PVM) */
	CHANNEL_PROGRAMS,   /* number of those of programs; the others are the monitors' own: */
	CHANNEL_GATHER = CHANNEL_PROGRAMS, /* waves, from the ask to the answer */
	CHANNEL_HOP,			   /* from the ask sent to a child to its answer */
	CHANNEL_STAGE,			   /* each stage that a wave passes, the source first */
	CHANNEL_CPU,			   /* processor time that a wave took */
	CHANNEL_COUNT,
	CHANNEL_SAMPLE = 14, /* likewise: what the sampler has kept of that */
	CHANNEL_STATE = 15,  /* pseudo channel: the thread's state line */
};

/** How many groups a segment has room for; new ones need no new layout. */
#define CHANNEL_MAX 16

/** The channel's name ("p2p"), or "?" if unknown. */
const char *channel_name(unsigned channel);

/** The channel with this name ("state" included), or -1. */
int channel_find(const char *name);

/** The operation's name ("MPI_Send"), "unknown" for 0 (not attributed), or "op N", which is valid
 * for the next 15 of these. */
const char *op_name(uint16_t op);

/** The operation with this name (case ignored, "MPI_" may be left out), or 0. */
uint16_t op_find(const char *name);

/** The channel of the operation's own tuples, or -1. */
int op_channel(uint16_t op);

/** Is it one of PVM's, whose peers are task ids (tree/data/process.h)? */
static inline int op_is_pvm(uint16_t op)
{
	return op >= 1000 && op < 1200;
}

/** Must every member of the communicator enter this operation before any can leave it (MPI-3.1
 * chapter 5: barrier, allreduce, allgather, alltoall, reduce_scatter, communicator creation)? */
int op_synchronizes(uint16_t op);

/**
 * Do all members of its communicator, window or file call it in the same order, so that its tuples
 * have numbers (MPI-3.1 5.12, 11.5.1, 13.6.1)? These are collectives, making communicators, fences,
 * and what a file's members do together.
 */
int op_is_collective(uint16_t op);

/** Do all members count it alike, so that it is the same operation if its number and communicator
 * are? Not those that MPI has only some members make (MPI_Comm_create_group), and none of PVM. */
int op_is_numbered(uint16_t op);

/** What all members must give alike in a collective, beside root and reduction (MPI-3.1 5.4 to
 * 5.11). */
enum op_alike {
	OP_ALIKE_NOT,
	OP_ALIKE_TYPE,	/* the datatype, but for the two sides of an intercommunicator */
	OP_ALIKE_BYTES, /* that, and as many of it */
};

enum op_alike op_alike(uint16_t op);

/** Is it a region, phase or function of the program, whose tuples have the number of its name
 * (seq_or_tag), and no communicator? */
int op_is_labelled(uint16_t op);

/** How many operations there are of the library of @op: MPI, PVM, a program's own, or EventSpace;
 * @channel: of this operation group alone, -1: of all. */
unsigned op_count(uint16_t op, int channel);

#endif
