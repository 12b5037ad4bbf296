/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of a probe: planned first, so that nothing changes unless all is right, and undone if
 * what it wants cannot be measured. */
#ifndef EVSPACE_PROBE_CHANGE_H
#define EVSPACE_PROBE_CHANGE_H

#include "consumers/mir/probe.h"

/** Make ready what a control request says of it, for the errand of that number, or complain. */
void probe_change_plan(struct probes *probes, struct probe *probe, struct mir_request *request,
		       unsigned errand);

/** Do what is planned. */
void probe_change_do(struct probes *probes, struct probe *probe);

/** Does what is done end it, when the errand is over? */
bool probe_change_removes(const struct probe *probe);

/** The errand is over: what it has done stays; or, if @undo, the probe is as it was before, and
 * goes on to measure if it did. Nothing, if another one has changed it since. */
void probe_change_end(struct probes *probes, struct probe *probe, unsigned errand, bool undo);

/** The probe ends, or is changed again. */
void probe_change_free(struct probe *probe);

#endif
