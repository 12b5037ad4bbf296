/* SPDX-License-Identifier: BSD-3-Clause */
/* Instrumentation and control requests answered, and values delivered when their time has come. */
#ifndef EVSPACE_PROBING_H
#define EVSPACE_PROBING_H

#include "consumers/mir/probe.h"

/** Answer an instrreq or ctrlreq of @owner on @out, or complain. */
void probing_answer(struct probes *probes, struct probe_owner *owner, struct mir_request *request,
		    FILE *out);

/** Take and deliver what is due. */
void probing_run(struct probes *probes);

/** Milliseconds until then; -1: never. */
int probing_timeout(const struct probes *probes);

/** Does a probe deliver by itself? */
bool probing_delivers(const struct probes *probes);

/** The owner goes, and its probes with it. */
void probing_leave(struct probes *probes, struct probe_owner *owner);

#endif
