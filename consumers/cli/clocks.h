/* SPDX-License-Identifier: BSD-3-Clause */
/* What evspace status --clocks shows. */
#ifndef EVSPACE_CLOCKS_H
#define EVSPACE_CLOCKS_H

#include "consumers/cli/options.h"

/** Ask the entry agent how the clocks of its map's hosts relate to its own, and print that.
 * Returns the exit code; EXIT_BAD_NEWS if a host did not answer. */
int clocks_show(const char *command, const struct common *common);

#endif
