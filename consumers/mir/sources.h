/* SPDX-License-Identifier: BSD-3-Clause */
/* What there is to know of a run besides the views of probes: who is there, and what the kernel
 * says of them. */
#ifndef EVSPACE_SOURCES_H
#define EVSPACE_SOURCES_H

#include "consumers/mir/probe.h"

/** Have what counts while somebody asks go on; to be called this often at least. */
#define PROBES_COUNT_NS UINT64_C(5000000000)
void probes_count(struct probes *probes);

/** What the kernel has said since then; NULL: it has not come. */
const struct usages *probes_usages(struct probes *probes, uint64_t since_ns);

/** What is needed. */
struct sources_need {
	bool snapshot, usages;
	unsigned depth; /* of the snapshot's stacks; 0: without */
};

/** What has come. NULL: it is not needed. */
struct sources {
	const struct snapshot *snapshot;
	const struct usages *usages;
};

/** The newest that was asked for since @since_ns. Returns false if it has not come. */
bool sources_since(struct probes *probes, const struct sources_need *need, uint64_t since_ns,
		   struct sources *sources);

/** Why one of them could not be had; NULL: they could. */
const char *sources_trouble(const struct sources *sources);

/** Have the cells of a metric be those there are, with what is known of them without an event. */
void sources_know(const struct sources *sources, struct probe_series *series);

#endif
