/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests say of a probe: checked, and put together from several of them. */
#ifndef EVSPACE_PROBE_DEFINE_H
#define EVSPACE_PROBE_DEFINE_H

#include "consumers/mir/probe.h"

/** Complain of what cannot be measured so in @probe->defined, at its places. Sets the region. */
void probe_check(const struct probes *probes, struct probe *probe, struct mir_request *request);

/** Have @to say what @from does, where that says something. */
void measuring_settle(struct mir_measuring *to, const struct mir_measuring *from);
void measuring_fini(struct mir_measuring *measuring);

/** Replace what @to says of metrics and entities by what @from does, if it says something. */
void request_settle(struct mir_request *to, const struct mir_request *from);

/** The part of a `file:` URI below @folder; NULL: it is not below it. */
const char *destination_below(const char *folder, const char *uri);

/** Open the folder @path below @folder, without links. Returns it, or -1 with errno. */
int destination_folder(const char *folder, const char *path);

/** Open the file that a `file:` URI names, below @folder, to add to it. Returns it, or -1 after a
 * complaint. */
int destination_open(const char *folder, const char *uri, const struct mir_place *place,
		     struct mir_request *request);

#endif
