/* SPDX-License-Identifier: BSD-3-Clause */
/* What probes do by themselves: they begin, and values are taken and delivered when their time has
 * come. */
#ifndef EVSPACE_PROBING_H
#define EVSPACE_PROBING_H

#include "consumers/mir/probe.h"

/** Take and deliver what is due. Returns whether something waits for hosts. */
bool probing_run(struct probes *probes);

/** Milliseconds until the next one is due; -1: never. */
int probing_timeout(const struct probes *probes);

/** Does a probe deliver by itself? */
bool probing_delivers(const struct probes *probes);

/** The owner goes, and its probes with it. */
void probing_leave(struct probes *probes, struct probe_owner *owner);

#endif
