/* SPDX-License-Identifier: BSD-3-Clause */
/* Stalls: who has made no progress, and who waits for whom, from one look at all threads
 * (paper 5.1). */
#ifndef EVSPACE_STALL_H
#define EVSPACE_STALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is known of one thread: its last event, and since when nothing has changed. Plain data. */
struct pulse {
	char name[256]; /* "/cluster/node/rank/thread" */
	int32_t rank;
	char op[64];
	uint16_t op_number;
	bool running; /* inside the operation, else it was the last one */
	int32_t peer;
	uint32_t seq, comm;
	uint64_t bytes;
	int64_t start_ns, end_ns; /* end: 0 while running */
	double error_ns;
	int64_t still_ns; /* for how long nothing has changed: since it entered or left the
			     operation */
	/* what stall_find() says: */
	bool stuck; /* no progress for too long, inside an operation, or while others wait for it */
	bool culprit;  /* waited for, but in no operation itself: it computes, sleeps, or is gone */
	bool cycle;    /* waits for itself over others: a deadlock */
	size_t awaits; /* how many are waited for; 0 with running: cannot tell */
	size_t first;  /* index of the first of them */
};

/** Members of a communicator as world ranks; returns how many there are, 0 if unknown. */
typedef size_t stall_members(void *arg, uint32_t comm, int32_t *members, size_t room);

/**
 * Fill in the last fields of all @n pulses. A thread is stuck when it has been inside one operation
 * for @after_ns, or when a stuck thread waits for it and it has itself not changed for as long.
 * Waiting for: the peer of a point-to-point operation; in a collective that synchronizes
 * (op_synchronizes()) those members of the communicator that are not in the same one (same number)
 * yet. Returns how many are stuck.
 */
size_t stall_find(struct pulse *pulses, size_t n, int64_t after_ns, stall_members *members,
		  void *arg);

/** Does @p wait for @other, by what is known now? */
bool stall_awaits(const struct pulse *p, const struct pulse *other, stall_members *members,
		  void *arg);

#endif
