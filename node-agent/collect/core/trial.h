/* SPDX-License-Identifier: BSD-3-Clause */
/* Experiments in the program: from block to block of collectives, another arm's modes. */
#ifndef EVSPACE_COLLECT_TRIAL_H
#define EVSPACE_COLLECT_TRIAL_H

#include "node-agent/collect/core/collect-thread.h"

/**
 * A call that the experiment in the segment counts by begins, whose number is @classes->next: if a
 * block ends with it, write that (OP_EVSPACE_BLOCK, in the thread's element of regions), and begin
 * the next one. Returns the mode to collect the call in. The thread is outside of operations.
 */
unsigned collect_trial(struct collect_caller caller, const struct collect_classes *classes);

#endif
