/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says of the threads of programs: how often they had to leave a processor, and how
 * long they waited for one. */
#ifndef EVSPACE_WAITS_H
#define EVSPACE_WAITS_H

#include <stdint.h>

#include "node-agent/store/store.h"

struct waits_all;

/** Of a process, since it was first looked at; of threads that have ended, what was last seen. */
struct waits_sum {
	uint32_t threads;   /* that it has, and could be looked at */
	uint64_t switches;  /* involuntary context switches */
	uint64_t waited_ns; /* ready to run, without a processor */
	uint64_t ran_ns;
};

struct waits_all *waits_new(void);
void waits_free(struct waits_all *waits);

/** Forget processes that are no more in @store. */
void waits_drop(struct waits_all *waits, const struct store *store);

/**
 * Look at up to @most threads of the living process of @s, each time at the next ones, and return
 * what is known of all. Does not block. Twice within 100 ms it looks once.
 */
struct waits_sum waits_look(struct waits_all *waits, const struct store_segment *s, unsigned most);

#endif
