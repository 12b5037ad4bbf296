/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that carry a collector and are not in the event space, and why (docs/guarantees.md). */
#ifndef EVSPACE_UNCOLLECTED_H
#define EVSPACE_UNCOLLECTED_H

#include <stddef.h>

#include "node-agent/store/store.h"

/** How many are named at most. */
#define UNCOLLECTED_MOST 64u

/** What was found. */
struct uncollected {
	char *texts[UNCOLLECTED_MOST]; /* "run night: pid 4711 (app) is not collected: …" */
	size_t n;
};

/**
 * Look through this host's processes, as far as we may (proc(5)), for those that have a collector
 * and an MPI or PVM library loaded, mean @store's base folder, and have neither a segment nor a
 * refusal there: because of another user, another root folder (a container, chroot(2)), because
 * they were forked by one that has, or because they have not come through MPI_Init as we see it. It
 * reads a file or two per process of the host: not for every wave. uncollected_fini() frees the
 * texts.
 */
void uncollected_init(struct uncollected *absent, const struct store *store);
void uncollected_fini(struct uncollected *absent);

/**
 * Why no segment can be made in the folder of @run below @base, by trying it (a file without a name
 * of a few pages, gone at once): text for the caller to free(), or NULL when it can.
 */
char *uncollected_folder(const char *base, const char *run);

#endif
