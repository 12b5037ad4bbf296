/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of probes that are kept in archives, as views of their own. */
#ifndef EVSPACE_PROBE_ARCHIVE_H
#define EVSPACE_PROBE_ARCHIVE_H

#include "consumers/mir/probe.h"

/** Complain if no view is of just the events of the probe. */
void probe_archive_check(const struct probe *probe, struct mir_request *request);

/** It begins; probe->trace.archiver says the rest. */
void probe_archive_begin(struct probes *probes, struct probe *probe);

#endif
