/* SPDX-License-Identifier: BSD-3-Clause */
/* Speed: whether a TCP connection is slow, by what the kernel has measured (tcp(7), TCP_INFO). */
#ifndef EVSPACE_SPEED_H
#define EVSPACE_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is known of one connection. Plain data, zeroed at first. */
struct speed {
	uint64_t looked_ns; /* CLOCK_MONOTONIC, 0: never yet */
	uint64_t slow_ns;   /* when it was found slow last */
	uint64_t rate;	    /* bytes/s that arrived of late, when the connection was busy */
	bool slow;
};

/**
 * Is the connection slow: is the other side 5 ms away or more (the least round trip that was seen),
 * or are there @waiting bytes that do not fit into the socket @fd, and what arrives is below 50
 * MB/s? Once slow, it is so for 5 s after that was true last. Looks once in 100 ms. False for what
 * is no TCP.
 */
bool speed_is_slow(struct speed *s, int fd, size_t waiting);

#endif
