/* SPDX-License-Identifier: BSD-3-Clause */
/* Host lists: "w[0-3,6]" stands for w0 w1 w2 w3 w6; rank lists. */
#ifndef EVSPACE_HOSTLIST_H
#define EVSPACE_HOSTLIST_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** Most names that a list may stand for. */
#define HOSTLIST_MAX 65536

/** Names in the order written. Zero-initialise; hostlist_fini() frees. */
struct hostlist {
	char **names;
	size_t n;
};

/**
 * Append what @text stands for to @list: one list, or some with commas between them
 * (`w[0-3,6],front`). Several brackets run like an odometer, the last fastest
 * (`r[0-1]n[0-1]`: r0n0 r0n1 r1n0 r1n1); leading zeros are kept (`w[08-10]`); brackets around
 * something with a colon are taken as they are (an IPv6 address: `[::1]:7440`).
 * Returns 0, or -1 with what is wrong in @e, where in @text in *@at, and @list as it was.
 */
int hostlist_add(struct hostlist *list, const char *text, size_t *at, struct error *e);

/** A short text that stands for the @n @names in their order, with blanks if one list is not
 * enough ("w[0-3,6] front"). The caller must free() it. */
char *hostlist_text(const char *const *names, size_t n);

/** Free the names. */
void hostlist_fini(struct hostlist *list);

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
