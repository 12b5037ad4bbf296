/* SPDX-License-Identifier: BSD-3-Clause */
/* Subprocesses: another program is run for what it prints. */
#ifndef EVSPACE_SUBPROCESS_H
#define EVSPACE_SUBPROCESS_H

#include "pathmap/base/error.h"

/**
 * Run @argv (ended by NULL, looked for in $PATH) for @seconds at most. Returns all that it printed
 * on standard output, the caller's to free(), or NULL with @e: it cannot be started (errno ENOENT:
 * there is no such program), it has not ended in time and was killed, or it failed: then @e has the
 * last line of what it said on standard error.
 */
char *subprocess_run(char *const *argv, unsigned seconds, struct error *e);

#endif
