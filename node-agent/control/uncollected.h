/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that have a collector but are not in the event space, and why (docs/guarantees.md). */
#ifndef EVSPACE_UNCOLLECTED_H
#define EVSPACE_UNCOLLECTED_H

#include <stddef.h>

#include "node-agent/store/store.h"

/** Most processes to name. */
#define UNCOLLECTED_MOST 64u

/** The result. */
struct uncollected {
	char *texts[UNCOLLECTED_MOST]; /* "run night: pid 4711 (app) is not collected: …" */
	size_t n;
};

/**
 * Scan this host's processes, as far as permitted (proc(5)), for those that have a collector and an
 * MPI or PVM library loaded, use @store's base folder, and have neither a segment nor a refusal
 * there. Reasons: they run as another user or with another root folder (a container, chroot(2)),
 * were forked by a collected process, or did not pass our MPI_Init. Reads a file or two per process
 * of the host: too slow for every wave. uncollected_fini() frees the texts.
 */
void uncollected_init(struct uncollected *absent, const struct store *store);
void uncollected_fini(struct uncollected *absent);

/** Why no segment can be made in the folder of @run below @base, found by making a small file
 * without a name there. Returns text for the caller to free(), or NULL if it can be made. */
char *uncollected_folder(const char *base, const char *run);

#endif
