/* SPDX-License-Identifier: BSD-3-Clause */
/* Process tables: the processes of a run whose elements are here, where each runs, and their
 * communicators. `evspace map discover` makes a mapping of them. */
#ifndef EVSPACE_PROCESS_TABLE_H
#define EVSPACE_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "node-agent/source/source.h"
#include "node-agent/store/store.h"
#include "tree/wire/wire.h"

/** As messages. Zero-initialise; process_tables_fini() frees. */
struct process_tables {
	Evspace__Process **processes;
	Evspace__Comm **comms;
	size_t n, n_comms;
	unsigned unread; /* whose use could not be read: there are too many threads */
};

/**
 * The processes of @run in @store without monitors: those that the agent @here holds, and those on
 * its host that its map has elsewhere (`misplaced`); NULL: all of them. With what those that it
 * holds use if @used, as far as usage.h has it. The agent of its first member reports a
 * communicator; of a PVM group, each agent reports a part.
 */
void process_tables_init(struct process_tables *r, const struct store *store,
			 const struct source_host *here, const char *run, bool used);
void process_tables_fini(struct process_tables *r);

#endif
