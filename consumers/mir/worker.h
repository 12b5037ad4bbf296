/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that takes long, done by a process of its own, so that the loop goes on. */
#ifndef EVSPACE_WORKER_H
#define EVSPACE_WORKER_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>

/** Most of them at once, how long each may take, and bytes that it may print. */
#define WORKERS_MAX   4u
#define WORKER_S      300
#define WORKER_OUTPUT ((size_t)256 << 20)

struct worker;

/** Prints what there is to say. Returns whether that says what is wrong. It may ask only for files
 * and start programs, which end with it. */
typedef bool worker_function(void *arg, FILE *out);

/** Have a copy of this process do @work, with @arg as it is now. The loop of @base is woken up by
 * its end. Returns NULL with errno: there can be no process. */
struct worker *worker_new(struct event_base *base, worker_function *work, void *arg);

/** Has it ended? Then *@text and *@n are what it has printed, valid until worker_free(), *@wrong
 * what it has returned; or *@why is why there is nothing (else NULL). */
bool worker_ended(const struct worker *worker, const char **text, size_t *n, bool *wrong,
		  const char **why);

/** Free it, and have it end if it has not. NULL is fine. */
void worker_free(struct worker *worker);

#endif
