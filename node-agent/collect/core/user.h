/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs say of themselves by evspace.h: taken into channel user. */
#ifndef EVSPACE_USER_H
#define EVSPACE_USER_H

#include "node-agent/collect/core/evspace.h"

/**
 * Where programs look for us. It lies in what is preloaded, empty until there is a segment: a
 * program may have asked before.
 */
extern struct evspace_calls evspace_calls_1 __attribute__((visibility("default")));

/** There is a segment: take what is said from now on, as long as anything is collected. */
void user_begin(void);

#endif
