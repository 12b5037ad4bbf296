/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what collecting and looking cost by direct measurement: no experiment, nothing is
 * switched. */
#ifndef EVSPACE_DIRECT_H
#define EVSPACE_DIRECT_H

#include "consumers/cli/options.h"

/** Measure for common->duration_ns (0: 2 s), and print. Returns the exit code. */
int direct_run(const struct common *common);

#endif
