/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: what an agent says of itself and of the processes whose elements it holds. */
#ifndef EVSPACE_REPORT_H
#define EVSPACE_REPORT_H

#include "node-agent/control/session.h"

/** Send the agent's Status on @link, with its processes. */
void report_send(const struct session_host *host, struct link *link);

/**
 * Fill in what the Status of @frame says of the agent itself, and send it: without processes, or,
 * with @run (NULL: none), with where those of that run are (node-agent/control/process-table.h).
 * What is not within @limits (NULL: none) is not counted.
 */
void report_answer(const struct session_host *host, struct link *link, Evspace__Frame *frame,
		   const struct limits *limits, const char *run);

#endif
