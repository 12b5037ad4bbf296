/* SPDX-License-Identifier: BSD-3-Clause */
/* What one collector of a gather tree takes at its place, between two others. */
#ifndef EVSPACE_BRACKET_H
#define EVSPACE_BRACKET_H

#include "consumers/cli/options.h"

/** Look for common->duration_ns (0: 2 s) at the run through three collectors in a row on each host,
 * and print what the one in the middle has taken. Returns the exit code. */
int bracket_run(const struct common *common);

#endif
