/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow control: how many bytes of tuples may be on their way to a client, by how fast they come. */
#ifndef EVSPACE_FLOW_CONTROL_H
#define EVSPACE_FLOW_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most bytes over all waves and leaves. */
#define FLOW_CONTROL_MOST ((size_t)32 << 20)

/** Plain data, zeroed at first. */
struct flow_control {
	size_t bytes;	/* the credit; 0: before flow_control_begin() */
	uint64_t since; /* the first wave that was asked for with this credit */
};

/** The client has connected. A @slow connection begins with little credit, another one with the
 * most. */
void flow_control_begin(struct flow_control *c, bool slow);

/**
 * Adjust the credit after wave @number, for which leaves have read @bytes of tuples; it came
 * @seconds after it was asked for, and had @deadline_s. The credit is divided into @shares, one for
 * each leaf of each wave under way; @next is the next wave to ask for. A wave that is more than a
 * second late waits in queues: the credit is halved. If a wave came within half a second, and the
 * share may have limited a leaf, the credit is doubled.
 */
void flow_control_wave(struct flow_control *c, uint64_t number, size_t bytes, double seconds,
		       unsigned shares, double deadline_s, uint64_t next);

#endif
