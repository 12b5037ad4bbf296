/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes of named owners in a file, from which the next evspace mir takes them. */
#ifndef EVSPACE_PROBE_FILE_H
#define EVSPACE_PROBE_FILE_H

#include "consumers/mir/owner.h"
#include "pathmap/base/error.h"

/** Write the probes of all named owners, and what these have said of later ones, to the file @path,
 * which is replaced at once. Returns 0, or -1 with @e. */
int probe_file_write(const char *path, const struct owners *owners, const struct probes *probes,
		     struct error *e);

/**
 * Take the probes of the file @path, if there is one: with their ids, and leases that begin now.
 * Each is checked as a request is, by @read; what is wrong is said on stderr, and left out. Returns
 * 0, or -1 with @e if it is no file of this kind, or another user may write to it.
 */
int probe_file_read(const char *path, struct owners *owners, struct probes *probes,
		    mir_request_function *read, struct error *e);

#endif
