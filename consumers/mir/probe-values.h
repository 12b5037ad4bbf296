/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of probes: whose they are, by the entities of the request. */
#ifndef EVSPACE_PROBE_VALUES_H
#define EVSPACE_PROBE_VALUES_H

#include "consumers/mir/measurement.h"
#include "consumers/mir/probe.h"
#include "consumers/mir/snapshot.h"

/** Some tuples, with the texts that they point to. */
struct probe_values {
	struct mir_tuple *tuples;
	size_t n;
	char **texts;
	size_t n_texts;
};

/** Is something asked about all there are, or about threads themselves? Then values need a
 * snapshot. */
bool probe_needs_snapshot(const struct probe *probe);

/** Take the values that grow, as they are now, for its aggregates. */
void probe_sample(struct probe *probe, const struct snapshot *snapshot);

/** Add the tuples of the probe. @snapshot: NULL, unless it needs one. */
void probe_values_add(struct probe_values *values, struct probe *probe,
		      const struct snapshot *snapshot);
void probe_values_fini(struct probe_values *values);

#endif
