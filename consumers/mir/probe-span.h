/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes from one region to another: a thread's time from the newest begin of the first to the end
 * of the second. */
#ifndef EVSPACE_PROBE_SPAN_H
#define EVSPACE_PROBE_SPAN_H

#include "consumers/mir/probe.h"

/** When a thread has begun the first, or ended the second of a probe's regions. */
struct probe_moment {
	int64_t ns;
	bool begins;
	char *thread;
};

/** Take an event that may be of one of its regions. */
void probe_span_take(struct probe *probe, const struct probe_call *call);

/** All that was before @until_ns has been taken: measure what has ended by then. */
void probe_span_settle(struct probe *probe, int64_t until_ns);

/** Forget what has not ended. */
void probe_span_forget(struct probe *probe);

#endif
