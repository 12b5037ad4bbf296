/* SPDX-License-Identifier: BSD-3-Clause */
/* What collecting and looking cost on this host so far: processes, links, and what went over them.
 */
#ifndef EVSPACE_COSTS_H
#define EVSPACE_COSTS_H

#include "node-agent/control/session.h"

/** As messages, whose texts belong to the host. Zero-initialise; costs_fini() frees. */
struct costs {
	Evspace__Cost **runs;
	Evspace__Carried **links;
	size_t n_runs, n_links;
};

/** Of the runs within @limits (NULL: all) that @peer may see; without limits also of all links. */
void costs_init(struct costs *costs, const struct session_host *host, const struct peer *peer,
		const struct limits *limits);
void costs_fini(struct costs *costs);

#endif
