/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of the processes of a run here, read by a process of its own while the agent goes on. */
#ifndef EVSPACE_STACKS_H
#define EVSPACE_STACKS_H

#include <stdint.h>

#include "node-agent/source/source.h"
#include "tree/wire/wire.h"

struct event_base;
struct stacks;

/** What looking may cost threads: after the longest time that one was stopped for, all are left
 * alone for so many times that, but 300 ms at most. */
#define STACKS_REST 100u

/** Have them read, down to @depth frames (stack.h), when it is their turn: together with those that
 * others ask for meanwhile, if it is the same run. @ready is called with @arg from the loop of
 * @base when that has ended, before @deadline_ms. */
struct stacks *stacks_new(struct event_base *base, const struct source_host *here, const char *run,
			  unsigned depth, uint32_t deadline_ms, void (*ready)(void *arg),
			  void *arg);

/** Will they be read, or are they? If not, stacks_give() says why. */
bool stacks_wait(const struct stacks *stacks);

/** Put them into messages of the run's processes here, or why there are none. Once. */
void stacks_give(struct stacks *stacks, Evspace__Process *const *processes, size_t n);

/** Free them; nobody waits for them any more. NULL is fine. */
void stacks_free(struct stacks *stacks);

#endif
