/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs beside this one that keep events on disk, `evspace archive`: nobody waits for a disk. */
#ifndef EVSPACE_ARCHIVER_H
#define EVSPACE_ARCHIVER_H

#include <stdbool.h>
#include <sys/queue.h>

#include "consumers/client/evspace-client.h"

struct event_base;

/** One that was started. */
struct archiver;

/** All that have not ended. Zeroed at first. */
LIST_HEAD(archivers, archiver);

/** Keep what comes from now on of the view that @define says, by the connection of @look, in the
 * folder that is open as @folder. Returns NULL with errno. */
struct archiver *archiver_new(struct archivers *all, struct event_base *base,
			      const struct evspace_options *look, const char *define, int folder);

/** Is the first wave on the disk, or has it ended? */
bool archiver_has_begun(const struct archiver *archiver);

/** Why it has ended; NULL: it goes on, or the run has ended. */
const char *archiver_why(const struct archiver *archiver);

/** Have it end, which it does when all that has come is on the disk. NULL is fine. */
void archiver_end(struct archiver *archiver);

/** Wait for those that end, 5 s at most. */
void archivers_fini(struct archivers *all, struct event_base *base);

#endif
