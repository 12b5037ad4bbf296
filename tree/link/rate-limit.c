/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts lines, and regains them with time. */
#include "tree/link/rate-limit.h"

#include "tree/data/clock.h"

#define LINES_AT_ONCE 10u
#define EARN_NS	      UINT64_C(60000000000)

bool rate_limit_take(struct rate_limit *r, unsigned long *unsaid)
{
	uint64_t now = clock_mono_ns(), earned;

	if (r->spent == 0)
		r->since_ns = now;
	earned = (now - r->since_ns) / EARN_NS;
	r->since_ns += earned * EARN_NS;
	r->spent = earned < r->spent ? r->spent - (unsigned)earned : 0;
	if (r->spent >= LINES_AT_ONCE) {
		r->unsaid++;
		return false;
	}
	r->spent++;
	*unsaid = r->unsaid;
	r->unsaid = 0;
	return true;
}
