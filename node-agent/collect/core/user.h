/* SPDX-License-Identifier: BSD-3-Clause */
/* Records what programs say by evspace.h, in channel user. */
#ifndef EVSPACE_USER_H
#define EVSPACE_USER_H

#include "node-agent/collect/core/evspace.h"

/** What programs look up. It is in the preloaded library and empty until there is a segment,
 * because a program may look it up before. */
extern struct evspace_calls evspace_calls_1 __attribute__((visibility("default")));

/** There is a segment: record from now on, as long as anything is collected. */
void user_begin(void);

#endif
