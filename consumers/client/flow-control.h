/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit: how many bytes of tuples may be on their way to a client, by how fast they come. */
#ifndef EVSPACE_FLOW_CONTROL_H
#define EVSPACE_FLOW_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** At most, over all waves and leaves. */
#define FLOW_CONTROL_MOST ((size_t)32 << 20)

/** Plain data, zeroed at first. */
struct flow_control {
	size_t bytes;	/* 0: flow_control_begin() is still to come */
	uint64_t since; /* waves from here on were asked for with so much */
};

/** The client has connected. A @slow connection is tried with little, another one with the most. */
void flow_control_begin(struct flow_control *c, bool slow);

/**
 * For the wave @number leaves have read @bytes of tuples; it came @seconds after it was asked for,
 * and had @deadline_s to be made. The credit is divided into @shares, one for each wave under way
 * and leaf; @next will be asked for next. What takes a second longer than it may waits in queues:
 * half as much then. What is there within half a second, and may have been limited by the share of
 * one leaf: twice as much.
 */
void flow_control_wave(struct flow_control *c, uint64_t number, size_t bytes, double seconds,
		       unsigned shares, double deadline_s, uint64_t next);

#endif
