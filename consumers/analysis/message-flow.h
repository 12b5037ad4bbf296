/* SPDX-License-Identifier: BSD-3-Clause */
/* Message flows: who waits for whom in messages, by the patterns Late Sender and Late Receiver of
 * Scalasca, summed up. Pure. */
#ifndef EVSPACE_MESSAGE_FLOW_H
#define EVSPACE_MESSAGE_FLOW_H

#include "consumers/analysis/message-match.h"

/** Who waits, and for whom. */
enum flow_kind {
	FLOW_LATE_SENDER, /* the receiver, from its receive or wait on until the other one sends */
	FLOW_LATE_RECEIVER, /* the sender, whose call cannot end before the other one receives */
	FLOW_KINDS
};

/** "Late Sender". */
const char *flow_name(enum flow_kind kind);

/** Messages of one sender to one receiver on a communicator, by the same operations from the same
 * call sites. Times in ns. */
struct message_flow {
	struct flow_key {
		uint32_t from, to; /* processes */
		uint32_t comm, from_site, to_site;
		uint16_t from_op, to_op;
	} key;
	uint64_t messages, bytes;
	uint64_t untold;  /* waits that may have been, but for less than clocks can tell */
	uint64_t unknown; /* receives of which nobody knows who has waited (message-wait.h) */
	struct flow_waits {
		uint64_t times;
		double waited_ns, most_ns;
		double error_ns; /* sum of the bounds of these waits */
	} waits[FLOW_KINDS];
};

struct message_flows;

struct message_flows *message_flows_new(void);
void message_flows_free(struct message_flows *flows);

/** Add a message. */
void message_flows_add(struct message_flows *flows, uint32_t comm, const struct message_side *sent,
		       const struct message_side *received);

/** All flows, in the order of coming. Valid until the next message_flows_add(). */
size_t message_flows_all(const struct message_flows *flows, const struct message_flow *const **all);

/** Share of the time of all processes that send or receive, from the first message to the last,
 * that @ns of one are. */
double message_flows_share(const struct message_flows *flows, double ns);

/** Messages of too many flows to be kept apart. */
uint64_t message_flows_left_out(const struct message_flows *flows);

#endif
