/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads as tests of stalls make them up, one after the other. */
#ifndef EVSPACE_TESTS_STALL_BED_H
#define EVSPACE_TESTS_STALL_BED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consumers/watch/stall.h"

#define SECOND	   1000000000ll
#define NOW	   (1000 * SECOND)
#define WORLD	   0x77u
#define PAIR	   0x88u /* of ranks 1 and 2 */
#define NOT_LISTED 0x99u
#define ANY_TAG	   UINT32_MAX

extern struct thread_state bed_threads[256];
extern size_t bed_n_threads;
extern struct stall *bed_stall;

size_t bed_members(void *arg, uint32_t comm, int32_t *ranks, size_t room);

void bed_begin(int32_t size);

/** Add a thread; ranks must be added in order. */
struct thread_state *bed_in_collective(int32_t rank, const char *op, uint32_t comm, uint32_t number,
				       double still_s);

struct thread_state *bed_after(int32_t rank, const char *op, uint32_t comm, uint32_t number,
			       double still_s);

struct thread_state *bed_in_message(int32_t rank, const char *op, int32_t peer, uint32_t tag,
				    double still_s);

size_t bed_find(void);

/* Does thread @at wait, for the reason @why, for these ranks (-1 ends them)? */
bool bed_waits(size_t at, enum stall_why why, ...);

#endif
