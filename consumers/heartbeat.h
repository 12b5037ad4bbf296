/* SPDX-License-Identifier: BSD-3-Clause */
/* The heartbeat monitor's state, shared by its looking (heartbeat.c) and its showing
 * (heartbeat-show.c). */
#ifndef EVSPACE_HEARTBEAT_H
#define EVSPACE_HEARTBEAT_H

#include "consumers/options.h"
#include "consumers/stall.h"
#include "consumers/unit.h"

struct heartbeat {
	struct common common;
	struct evspace_client *client;
	bool check, redraw, colour;
	int64_t stuck_after_ns;
	uint64_t end_ns; /* CLOCK_MONOTONIC, 0: no limit */
	struct pulse *pulses;
	size_t n, room;
	size_t stuck;
	int lines; /* that were drawn last, to draw over */
	/* of the wave before, for rates */
	int64_t last_ns;
	uint64_t last_written, last_cost_ns, last_cpu_us;
	double written_rate, cost_share, cpu_share;
};

/** A stall_members over the client's communicators; @arg is the heartbeat. */
size_t heartbeat_members(void *arg, uint32_t comm, int32_t *members, size_t room);

/** Show the wave that was taken in: a table, or JSON. Returns 0, or -1 when nobody reads it any
 * more. */
int heartbeat_show(struct heartbeat *h);

/** Say who is stuck, a line each, or that nobody is. */
void heartbeat_verdict(const struct heartbeat *h);

/** Say on stderr how often was looked, and what it cost. */
void heartbeat_summary(struct heartbeat *h);

#endif
