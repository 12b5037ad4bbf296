/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sends and receives belong together where some of them are missing: those of which it is
 * known how many were before them on their channel, or behind them, on both sides. Pure. */
#ifndef EVSPACE_PAIRING_H
#define EVSPACE_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

/** Messages that do not overtake each other. */
struct pairing_channel {
	int32_t from, to;
	uint32_t tag, comm;
};

/** One side of a message. */
struct pairing_side {
	struct pairing_channel channel;
	int64_t ns; /* of a send when it begins, of a receive when it has ended */
	uint32_t thread;
	bool received;
};

/** Numbers that no message has. */
#define PAIRING_ALONE	UINT64_MAX	 /* nothing of the other side is there */
#define PAIRING_UNKNOWN (UINT64_MAX - 1) /* what belongs to it is not known */

struct pairing;

/** Nothing is known. */
struct pairing *pairing_new(void);

/** NULL is fine. */
void pairing_free(struct pairing *p);

/** Of what @rank has done behind @from_ns and before @to_ns something may be missing. */
void pairing_hole(struct pairing *p, int32_t rank, int64_t from_ns, int64_t to_ns);

/** @rank has done all that it does: what was sent to it was received (MPI-3.1 8.7, of
 * MPI_Finalize). */
void pairing_end(struct pairing *p, int32_t rank);

/** Sides come thread by thread, not in order of time. */
void pairing_by_thread(struct pairing *p);

/** First all sides are counted; 2^18 channels at most, of others nothing is known. */
void pairing_count(struct pairing *p, const struct pairing_side *side);

/** Then all come again, in the same order, and have numbers: the same on both sides of a message,
 * and on its channel no other one has it. */
uint64_t pairing_number(struct pairing *p, const struct pairing_side *side);

#endif
