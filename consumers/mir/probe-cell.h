/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of probes, and the entities of requests that they are of. */
#ifndef EVSPACE_PROBE_CELL_H
#define EVSPACE_PROBE_CELL_H

#include "consumers/mir/probe.h"

/** The cell of that name, "/cluster/node/rank3/t0". */
struct probe_cell *probe_cell_of(struct probe_series *series, uint32_t comm, const char *name);

/** This thread has executed the region of the probe: what the kernel says is taken then, of it and
 * of all that it is in; agents are asked, and the next time when they have said. */
void probe_cells_run(struct probe *probe, struct probe_series *series, const char *thread);

/** Something has come. */
void probe_is_fresh(struct probe *probe);

/** Does it measure what the kernel says? */
bool probe_uses(const struct probe *probe);

/** An entity with all that it is nested in, from the largest on; NULL: not said. */
struct probe_chain {
	const char *id[MIR_LEVELS];
	bool all;  /* one of them is "*" */
	bool some; /* one of them is "?" */
};

/** How many chains a request may have at most. */
size_t probe_chains(const struct probe *probe);

/** The chain of entity @i; false: what is nested in it is meant. Without entities there is one, of
 * those that execute. */
bool probe_chain_of(const struct probe *probe, size_t i, struct probe_chain *chain);

/** Is it "*" or "?"? NULL is not. */
bool probe_id_is_wild(const char *id);

/** The ids of a cell at the levels of the chain, for probe_ids_free(). Returns false if it is not
 * of it. @metric: NULL is that of an event. */
bool probe_cell_ids(const struct probe_cell *cell, const struct probe_chain *chain,
		    const struct metric *metric, char *id[MIR_LEVELS]);

void probe_ids_free(char *id[MIR_LEVELS]);

/** Is it about this thread, "/cluster/node/rank3/t0", on this communicator? */
bool probe_concerns(const struct probe *probe, uint32_t comm, const char *thread);

#endif
