/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators whose collectives are steered: by which rules, on which all members agree. */
#ifndef EVSPACE_MPI_STEER_COMM_H
#define EVSPACE_MPI_STEER_COMM_H

#include "node-agent/collect/mpi/mpi-steer-run.h"

/** Calls between two votes about other rules, which are in force at most so many calls later. */
#define STEER_TURN 32u

/** What is known of @comm. At its first call that may be steered, in which all members are, it is
 * made, and they agree on rules. NULL: nothing of it is steered. */
struct steered *steer_comm_find(MPI_Comm comm);

/**
 * A call of @s begins, on all members. In every STEER_TURN-th one they vote about the newest rules
 * that each of them knows, by a nonblocking reduction, which the call STEER_TURN later waits for:
 * if all have the same, these are in force from that call on. Returns whether they are new.
 */
bool steer_comm_turn(struct steered *s);

/** After MPI_Init, and before MPI_Finalize; to be called before the others. False: this library
 * cannot be steered. */
bool steer_comms_begin(void);
void steer_comms_end(void);

#endif
