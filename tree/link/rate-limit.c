/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts lines, and regains them with time. */
#include "tree/link/rate-limit.h"

#include <stdio.h>
#include <string.h>

#include "tree/data/clock.h"

#define LINES_AT_ONCE 10u
#define EARN_NS	      UINT64_C(60000000000)

/* What was earned back is not spent any more. */
static void rate_limit_earn(struct rate_limit *r)
{
	uint64_t now = clock_mono_ns(), earned;

	if (r->spent == 0)
		r->since_ns = now;
	earned = (now - r->since_ns) / EARN_NS;
	r->since_ns += earned * EARN_NS;
	r->spent = earned < r->spent ? r->spent - (unsigned)earned : 0;
}

bool rate_limit_take(struct rate_limit *r, unsigned long *unsaid)
{
	rate_limit_earn(r);
	if (r->spent >= LINES_AT_ONCE) {
		r->unsaid++;
		return false;
	}
	r->spent++;
	*unsaid = r->unsaid;
	r->unsaid = 0;
	return true;
}

struct rate_limit *rate_limit_of(struct rate_limits *all, const char *name)
{
	size_t vacant = RATE_LIMIT_PEERS;

	for (size_t i = 0; i < RATE_LIMIT_PEERS; i++) {
		if (strncmp(all->of[i].name, name, RATE_LIMIT_NAME - 1) == 0)
			return &all->of[i].limit;
		rate_limit_earn(&all->of[i].limit);
		if (vacant == RATE_LIMIT_PEERS && all->of[i].limit.spent == 0)
			vacant = i;
	}
	if (vacant == RATE_LIMIT_PEERS)
		return &all->others;
	all->others.unsaid += all->of[vacant].limit.unsaid;
	snprintf(all->of[vacant].name, RATE_LIMIT_NAME, "%s", name);
	all->of[vacant].limit = (struct rate_limit){.spent = 0};
	return &all->of[vacant].limit;
}
