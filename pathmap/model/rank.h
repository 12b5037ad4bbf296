/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks, "rank[0-11]": the program's threads as maps name them. */
#ifndef EVSPACE_RANK_H
#define EVSPACE_RANK_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** Ranks are below this. */
#define RANKS_MAX 65536u

/** Ranks in the order written. Zero-initialise; free @ranks. */
struct rank_list {
	unsigned *ranks;
	size_t n;
};

/**
 * Append the ranks that @text ("rank[0-11]") stands for. Returns 0, or -1 with what is wrong in @e,
 * where in @text in *@at, and @list as it was.
 */
int rank_list_add(struct rank_list *list, const char *text, size_t *at, struct error *e);

#endif
