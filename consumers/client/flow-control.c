/* SPDX-License-Identifier: BSD-3-Clause */
/* More credit while waves come at once, less when they queue on their way. */
#include "consumers/client/flow-control.h"

/* First credit for a slow connection, and the least credit, in bytes. */
#define FLOW_CONTROL_SLOW  ((size_t)256 << 10)
#define FLOW_CONTROL_LEAST ((size_t)64 << 10)
#define QUEUED_S	   1.0
#define SOON_S		   0.5

void flow_control_begin(struct flow_control *c, bool slow)
{
	if (!c->bytes)
		c->bytes = FLOW_CONTROL_MOST;
	if (slow && c->bytes > FLOW_CONTROL_SLOW)
		c->bytes = FLOW_CONTROL_SLOW;
}

void flow_control_wave(struct flow_control *c, uint64_t number, size_t bytes, double seconds,
		       unsigned shares, double deadline_s, uint64_t next)
{
	/* asked for with other credit than the present one */
	if (number < c->since)
		return;
	if (seconds > deadline_s + QUEUED_S && c->bytes > FLOW_CONTROL_LEAST) {
		c->bytes /= 2;
		c->since = next;
	} else if (seconds < SOON_S && bytes >= c->bytes / shares / 2 &&
		   c->bytes < FLOW_CONTROL_MOST) {
		c->bytes *= 2;
		c->since = next;
	}
}
