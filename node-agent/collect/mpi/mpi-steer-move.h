/* SPDX-License-Identifier: BSD-3-Clause */
/* What all steered collectives are made of: messages between neighbours of a route, and slots, one
 * for each member's data without gaps, in the route's preorder. */
#ifndef EVSPACE_MPI_STEER_MOVE_H
#define EVSPACE_MPI_STEER_MOVE_H

#include "node-agent/collect/mpi/mpi-steer-run.h"

/* Functions return MPI_SUCCESS or the library's error. */

/** Begin a message to or from a member. */
int steer_send_begin(struct steer_call *c, const void *from, int count, MPI_Datatype type, int to);
int steer_recv_begin(struct steer_call *c, void *into, int count, MPI_Datatype type, int from);

/** Wait for all messages that were begun, and record, as the rule has it, those that have come
 * as operations @op, and those that have gone. */
int steer_all_end(struct steer_call *c, uint16_t op);

/** Record an operation of the inside, from @start until now; @member -1: with nobody. */
void steer_record(const struct steer_call *c, uint16_t op, int member, uint64_t start);

/** Both, for one message. */
int steer_send_to(struct steer_call *c, const void *from, int count, MPI_Datatype type, int to);
int steer_recv_from(struct steer_call *c, void *into, int count, MPI_Datatype type, int from);

/** The @i-th neighbour but @up; -1 behind the last. */
int steer_other(const struct steer_route *route, int up, int i);

/** The same to all neighbours but @up; to all children that are no roots. */
int steer_send_others(struct steer_call *c, const void *from, int count, MPI_Datatype type, int up);
int steer_send_down(struct steer_call *c, const void *from, int count, MPI_Datatype type);

/** Is this member a root of the route? */
bool steer_is_root(const struct steer_route *route);

/** @bytes, rounded up so that what follows is aligned for any type. */
#define STEER_ALIGNED(bytes) (((bytes) + 63) & ~(size_t)63)

/** Room for @n parts of @bytes each, valid until the next call. NULL: there is none. */
char *steer_room_make(struct steered *s, size_t n, size_t bytes);

/** After a call: give back what is too much to be kept. */
void steer_room_trim(struct steered *s);

/** Begin to send or receive the slots of @span, each of @bytes. */
int steer_span_move(struct steer_call *c, char *slots, size_t bytes, struct steer_span span,
		    int with, bool sends);

/** To or from all neighbours but @up those slots that are beyond each; ends when that is done. */
int steer_spans_move(struct steer_call *c, char *slots, size_t bytes, int up, bool sends);

/** From the slot of @member into its buffer. */
int steer_slot_take(const struct steer_call *c, const char *slots, size_t bytes, int member,
		    struct steer_data into);

/** Bring the data of all members to the slots of @root. */
int steer_slots_gather(struct steer_call *c, char *slots, size_t bytes, struct steer_data own,
		       int root);

#endif
