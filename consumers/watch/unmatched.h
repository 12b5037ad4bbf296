/* SPDX-License-Identifier: BSD-3-Clause */
/* What there is where patterns select nothing. */
#ifndef EVSPACE_UNMATCHED_H
#define EVSPACE_UNMATCHED_H

#include "consumers/client/evspace-client.h"

/** Say on stderr, for @command, that nothing which @look selects is there so far, and what is: the
 * processes of the run, by asking all hosts. */
void unmatched_tell(const char *command, const struct evspace_options *look);

#endif
