/* SPDX-License-Identifier: BSD-3-Clause */
/* Process tables: the processes of a run whose elements are here, where each runs, and which
 * communicators they have made: what `evspace map discover` makes a mapping of. */
#ifndef EVSPACE_PROCESS_TABLE_H
#define EVSPACE_PROCESS_TABLE_H

#include <stddef.h>

#include "node-agent/source/source.h"
#include "node-agent/store/store.h"
#include "tree/wire/wire.h"

/** As messages. Zero-initialise; process_tables_fini() frees. */
struct process_tables {
	Evspace__Process **processes;
	Evspace__Comm **comms;
	size_t n, n_comms;
};

/**
 * The processes of @run in @store, monitors left out: of the agent @here those that it holds, and
 * those that run on its host though its map has them elsewhere (`misplaced`); with NULL all of
 * them. Of communicators each is told by who has its first member, of PVM's groups all know a part.
 */
void process_tables_init(struct process_tables *r, const struct store *store,
			 const struct source_host *here, const char *run);
void process_tables_fini(struct process_tables *r);

#endif
