/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings in the order of their begins: elements that are split by call site or communicator come
 * one after the other, and so do the operations that become whole. Pure. */
#ifndef EVSPACE_MEETING_ORDER_H
#define EVSPACE_MEETING_ORDER_H

#include "consumers/analysis/meeting.h"

struct meeting_order;

/** None yet; at most @most arrivals are kept (1 MB for 10,000). */
struct meeting_order *meeting_order_new(size_t most, meetings_take *take, void *arg);

/** Free all, without telling of those that are kept. NULL is fine. */
void meeting_order_free(struct meeting_order *order);

/** @meeting has come (a meetings_take() of a struct meeting_order). */
void meeting_order_add(void *order, const struct meeting *meeting);

/** All that elements held a moment ago has come (a wave that has left nothing), or nothing more
 * comes: tell of all that have. */
void meeting_order_turn(struct meeting_order *order);

#endif
