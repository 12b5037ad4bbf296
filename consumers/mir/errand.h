/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests on their way to their answers: none of them holds up another one. */
#ifndef EVSPACE_ERRAND_H
#define EVSPACE_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "consumers/mir/probe.h"
#include "consumers/mir/request.h"

struct errand;

/** Gets the answer, a line; @wrong: it says what is wrong. The errand is over. */
typedef void errand_done(void *arg, const char *text, size_t n, bool wrong);

/** All of them. errands_init() begins. */
struct errands {
	TAILQ_HEAD(, errand) list; /* the oldest first */
	struct event_base *base;   /* woken up by processes that read and write sources */
	unsigned named;
};

/** There are none. */
void errands_init(struct errands *errands, struct event_base *base);

/** Answer @request, which it takes, of @owner; @done is called by errands_run(). */
struct errand *errand_new(struct errands *errands, struct probes *probes, struct probe_owner *owner,
			  struct mir_request *request, errand_done *done, void *arg);

/** Whoever asked is gone: there is no answer, and it has changed nothing. NULL is fine. */
void errand_drop(struct errand *errand);

/** Answer those that nothing is left to wait for. Returns whether there are others. */
bool errands_run(struct errands *errands);

#endif
