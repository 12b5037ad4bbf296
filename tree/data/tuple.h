/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuple: one communication event as a fixed-size record (docs/architecture.md; the paper's
 * section 4.1). */
#ifndef EVSPACE_TUPLE_H
#define EVSPACE_TUPLE_H

#include <stdbool.h>
#include <stdint.h>

/** Changes with the meaning or layout of a tuple; part of segments and of the hello. */
#define TUPLE_LAYOUT 1

/** No peer: collectives, and operations with MPI_PROC_NULL. */
#define TUPLE_NO_PEER (-1)
/** The peer is not known yet: a pending receive from MPI_ANY_SOURCE. */
#define TUPLE_ANY_PEER (-2)
/** A process of another world (MPI_Comm_spawn, MPI_Comm_connect), whose rank there is unknown: rank
 * r of the communicator, or of its remote group, is TUPLE_FOREIGN_PEER - r. */
#define TUPLE_FOREIGN_PEER (-16)

/** Flags of a tuple. */
enum tuple_flag {
	TUPLE_RUNNING = 1 << 0,	     /* from a state line: under way, `end` is 0 */
	TUPLE_COMPLETION = 1 << 1,   /* end of a request: `start` is its start */
	TUPLE_FAILED = 1 << 2,	     /* the call did not return MPI_SUCCESS */
	TUPLE_UNATTRIBUTED = 1 << 3, /* a completion whose request is unknown */
	TUPLE_CANCELLED = 1 << 4,    /* a completion of a cancelled request */
	TUPLE_GONE = 1 << 5, /* the process died: inside the operation (RUNNING), or after it */
	TUPLE_UNNUMBERED = 1 << 6, /* of a collective: its number may differ from other
				    * members', since calls were not counted while their class
				    * was off */
	TUPLE_REGION = 1 << 7,	   /* with RUNNING: not the thread's operation, but the region
				    * or phase (evspace.h) around it; `comm` is the label of its
				    * call site, 0 if it is not in it for long */
};

/**
 * One event: 40 bytes, native byte order. `start` and `end` are ticks of the process's clock
 * (tree/data/clock.h) until a convert stage makes them nanoseconds.
 */
struct tuple {
	uint64_t start, end;
	uint64_t bytes;	     /* payload: count x size of the datatype */
	int32_t peer;	     /* world rank or task id; TUPLE_NO_PEER, _ANY_PEER, _FOREIGN_PEER;
			      * of a collective its signature (tree/data/signature.h) */
	uint32_t seq_or_tag; /* collective: its number on this communicator; p2p: tag */
	uint32_t comm;	     /* communicator id, the same on all members; 0: none */
	uint16_t op;	     /* tree/data/op.h */
	uint16_t flags;	     /* enum tuple_flag */
};

_Static_assert(sizeof(struct tuple) == 40, "a tuple is 40 bytes on every machine");

struct clock_line;

/** Convert a tuple's ticks to nanoseconds of event-space time; a missing end stays 0. */
void tuple_to_ns(struct tuple *tuple, const struct clock_line *line);

/** Has @tuple ended, so that it has a duration? Writes that to *@ns, 0 if the clock ran
 * backwards. */
bool tuple_duration(const struct tuple *tuple, const struct clock_line *line, uint64_t *ns);

#endif
