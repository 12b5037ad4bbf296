/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrivals in the order of their starts, each with what its thread did before: elements that are
 * split by call site, operation or communicator come one after the other. Pure. */
#ifndef EVSPACE_ARRIVAL_ORDER_H
#define EVSPACE_ARRIVAL_ORDER_H

#include "consumers/analysis/meeting.h"

/** A call of a collective, as its event has come. Threads and elements are numbers of the caller's
 * from 0, without large gaps. */
struct arrival_call {
	struct meeting_key key;
	struct arrival arrival; /* all but between_ns */
	uint64_t number;	/* of its event in its element; UINT64_MAX: not known */
	uint32_t thread, element;
	bool split;  /* its thread has other elements, too */
	bool joined; /* it is part of a meeting; else its thread was in it, and no more is known */
};

/** Gets each that is joined. */
typedef void arrival_order_take(void *arg, const struct meeting_key *key,
				const struct arrival *arrival);

struct arrival_order;

/** None yet; at most @most calls are kept (1.5 MB for 10,000). */
struct arrival_order *arrival_order_new(size_t most, arrival_order_take *take, void *arg);

/** Free all, without passing on those that are kept. NULL is fine. */
void arrival_order_free(struct arrival_order *order);

/** @call has come. Those of one element come in the order of their numbers. */
void arrival_order_add(struct arrival_order *order, const struct arrival_call *call);

/** All that elements held a moment ago has come (a wave that has left nothing), or nothing more
 * comes: pass on all that have. */
void arrival_order_turn(struct arrival_order *order);

#endif
