/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that takes long, done by a process of its own, so that the loop goes on. */
#ifndef EVSPACE_WORKER_H
#define EVSPACE_WORKER_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>

struct worker;

/** Prints what there is to say. Returns whether that says what is wrong. It may ask only for files
 * and start programs, which end with it. */
typedef bool worker_function(void *arg, FILE *out);

/** How long one may print nothing, and what it may print. */
struct worker_limits {
	unsigned ms;
	size_t bytes;
	const char *remedy; /* behind why there is nothing, "; name less at once"; NULL: none */
};

/** Have a copy of this process do @work, with @arg as it is now. By its end the loop of @base is
 * woken up, and @ended called with @ended_arg (NULL: nothing); it may free the worker. Returns NULL
 * with errno: there can be no process. */
struct worker *worker_new(struct event_base *base, const struct worker_limits *limits,
			  worker_function *work, void *arg, void (*ended)(void *ended_arg),
			  void *ended_arg);

/** Has it ended? Then *@text and *@n are what it has printed, valid until worker_free(), *@wrong
 * what it has returned; or *@why is why there is nothing (else NULL). */
bool worker_ended(const struct worker *worker, const char **text, size_t *n, bool *wrong,
		  const char **why);

/** Free it, and have it end if it has not. NULL is fine. */
void worker_free(struct worker *worker);

#endif
