/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace archive merge. */
#ifndef EVSPACE_ARCHIVE_MERGE_H
#define EVSPACE_ARCHIVE_MERGE_H

/** Most archives that are made one. */
#define ARCHIVE_MERGE_MOST 64

/** Make a new archive in @out of what the @n archives in @folders have, each tuple once. Returns
 * the exit code, after a message. */
int archive_merge(char *const *folders, unsigned n, const char *out);

#endif
