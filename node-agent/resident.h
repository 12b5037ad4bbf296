/* SPDX-License-Identifier: BSD-3-Clause */
/* Residents: the processes of a run whose elements are here, where each runs, and which
 * communicators they have made: what `evspace map discover` makes a mapping of. */
#ifndef EVSPACE_RESIDENT_H
#define EVSPACE_RESIDENT_H

#include <stddef.h>

#include "node-agent/source.h"
#include "node-agent/store.h"
#include "tree/wire.h"

/** As messages. Zero-initialise; residents_fini() frees. */
struct residents {
	Evspace__Process **processes;
	Evspace__Comm **comms;
	size_t n, n_comms;
};

/**
 * The processes of @run in @store, monitors left out: of the agent @here those that it holds, and
 * those that run on its host though its map has them elsewhere (`misplaced`); with NULL all of
 * them. Of communicators each is told by who has its first member, of PVM's groups all know a part.
 */
void residents_init(struct residents *r, const struct store *store, const struct source_host *here,
		    const char *run);
void residents_fini(struct residents *r);

#endif
