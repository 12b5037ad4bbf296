/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace archive cut. */
#ifndef EVSPACE_ARCHIVE_CUT_H
#define EVSPACE_ARCHIVE_CUT_H

#include <stdint.h>

#include "pathmap/base/error.h"

/** Times since an archive's first wave. */
struct archive_range {
	uint64_t begin_ns, end_ns; /* the end: 0: that of the archive */
};

/** Copy what was taken in @range from the archive in @folder to a new one in @out. Returns the exit
 * code, after a message. */
int archive_cut(const char *folder, const char *out, const struct archive_range *range);

/** Say why `evspace archive @word` has failed, and that the archive @out (NULL: none was begun) is
 * not whole. */
void archive_cut_fail(const char *word, const char *out, const struct error *e);

#endif
