/* SPDX-License-Identifier: BSD-3-Clause */
/* The classes of a communicator, off the path. */
#ifndef EVSPACE_COLLECT_CLASS_H
#define EVSPACE_COLLECT_CLASS_H

#include "node-agent/collect/core/collect.h"

/** Prepare the classes of the communicator with @comm as id. */
void collect_classes_init(struct collect_classes *classes, uint32_t comm);

/**
 * Number the calls of these @channels (bits) on the communicator, which is not in use yet; members
 * compare the numbers. While such a class is off its calls get none: later numbers cannot be
 * compared, and collect_classes.on says so.
 */
void collect_classes_number(struct collect_classes *classes, uint32_t channels);

/** Before a call of another channel gets a number: check whether calls were missed meanwhile. */
void collect_classes_check(struct collect_classes *classes);

/** Make the class of @channel before its first use, so that it can be switched. */
void collect_classes_make(struct collect_classes *classes, unsigned channel);

/** The class of @channel, made if it has not been yet. */
unsigned collect_class_ready(struct collect_classes *classes, unsigned channel);

/** The mode of @class, now entered again after it was off: calls may have been missed meanwhile. */
unsigned collect_class_resumed(struct collect_classes *classes, unsigned class, unsigned channel);

#endif
