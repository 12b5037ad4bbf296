/* SPDX-License-Identifier: BSD-3-Clause */
/* What sampling has done to the profile of an execution: samples against the trace of the same run.
 */
#ifndef EVSPACE_SAMPLING_EFFECT_H
#define EVSPACE_SAMPLING_EFFECT_H

#include <stdbool.h>

/** Print by how much the profile of the archive @samples differs from that of the archive @trace
 * (docs/plans.md). Returns the exit code. */
int sampling_effect(const char *trace, const char *samples, bool json);

#endif
