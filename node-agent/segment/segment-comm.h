/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicators of a segment, for its writer: those that are freed make way for others. */
#ifndef EVSPACE_SEGMENT_COMM_H
#define EVSPACE_SEGMENT_COMM_H

#include "node-agent/segment/segment.h"

/**
 * Record a communicator (ids on record already are left). When the table is full, the oldest one
 * that is freed makes way; noted in the header when none is. Any thread, no system call.
 */
void segment_comm_add(struct segment *s, uint32_t id, uint32_t parent, uint32_t size,
		      uint32_t members);

/** The communicator is freed. It stays on record as long as there is room. */
void segment_comm_leave(struct segment *s, uint32_t id);

#endif
