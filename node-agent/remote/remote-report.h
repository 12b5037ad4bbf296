/* SPDX-License-Identifier: BSD-3-Clause */
/* Says for the status what other nodes fetch from here, what this node fetches, and how far. */
#ifndef EVSPACE_REMOTE_REPORT_H
#define EVSPACE_REMOTE_REPORT_H

#include "node-agent/source/source.h"

/** One line each. */
struct remote_report {
	char **texts;
	size_t n;
};

void remote_report_init(struct remote_report *report, const struct source_host *host);
void remote_report_fini(struct remote_report *report);

#endif
