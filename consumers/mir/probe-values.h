/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of probes: whose they are, by the entities of the request. */
#ifndef EVSPACE_PROBE_VALUES_H
#define EVSPACE_PROBE_VALUES_H

#include "consumers/mir/measurement.h"
#include "consumers/mir/probe.h"
#include "consumers/mir/sources.h"

/** Most values of several probes in a document, which some 64 MiB have. */
#define VALUES_MOST ((size_t)1 << 19)

/** Is something asked about all there are, or about threads themselves? Then values need a
 * snapshot. */
bool probe_needs_snapshot(const struct probe *probe);

/** A measurement with a duration begins: of the values that grow. */
void probe_sample_begin(struct probe *probe, const struct sources *sources);

/** Take the values that are due, as they are now, for its aggregates. */
void probe_sample(struct probe *probe, const struct sources *sources);

/** Likewise those that are taken when they are asked for. */
void probe_take(struct probe *probe, const struct sources *sources);

/** Write the measurement document of @n probes. Returns false if several have too many values. */
bool probe_values_write(struct probe *const *some, size_t n, const struct sources *sources,
			FILE *out);

/** Say those of one to its destination, which takes values. */
void probe_values_say(struct probe *probe, const struct sources *sources);

#endif
