/* SPDX-License-Identifier: BSD-3-Clause */
/* Has the file of probes written when these have changed, by a copy of this process, one at a time:
 * others are answered meanwhile, and all that changes until it has ended is for the next one. */
#ifndef EVSPACE_PROBE_KEEPER_H
#define EVSPACE_PROBE_KEEPER_H

#include "consumers/mir/probe-file.h"

struct event_base;

/** Zeroed at first, but for what is said. */
struct probe_keeper {
	const char *path; /* of the file; NULL: there is none */
	const struct owners *owners;
	struct event_base *base; /* woken up when one has ended */
	struct worker *worker;	 /* NULL: none writes */
	unsigned changes;	 /* that the file has when it has ended */
	uint64_t again_ns;	 /* when to try again what could not be written; 0: all could be */
	int lock; /* a file beside it, locked: one keeps its probes there at a time */
};

/** Take the file for its own, if there is to be one. Returns 0, or -1 with @e. */
int probe_keeper_begin(struct probe_keeper *keeper, struct error *e);

/** Begin to write what has changed, if none writes; @probes->kept says what is written, or could
 * not be, which is said, and tried again. */
void probe_keeper_run(struct probe_keeper *keeper, struct probes *probes);

/** In how many ms it is to run, if nothing changes and none ends until then; -1: never. */
int probe_keeper_timeout(const struct probe_keeper *keeper, const struct probes *probes);

/** Write what is not written yet, and wait for that. */
void probe_keeper_end(struct probe_keeper *keeper, struct probes *probes);

#endif
