/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that is sampled, and its element of samples. */
#ifndef EVSPACE_SAMPLED_H
#define EVSPACE_SAMPLED_H

#include "node-agent/segment/segment-table.h"
#include "node-agent/source/sieve.h"
#include "node-agent/store/mirror.h"

struct sampled {
	uint64_t serial; /* of its segment */
	uint32_t number;
	bool alike; /* its ticks are the agent's */
	const bool *alive;
	const struct segment_thread *thread;
	uint64_t outside; /* since it was seen outside of all operations; 0: it is not */
	struct sieve_rule *rule;
	struct sieve sieve;
	struct mirror mirror;
	char file[MIRROR_FILE];
};

/** Make its element, file k->file in the folder @dir; or go on with the one that an agent before
 * this one has left when it was killed, which may not have been read yet. Returns 0, or -1 with
 * errno and
 * @e. */
int sampled_open(struct sampled *k, const char *dir, const struct mirror_plan *plan,
		 struct error *e);

/** Look at what it is doing at @now (ticks), and write what is to be kept; from within
 * segment_guarded(). Returns whether it does something else than before. */
bool sampled_take(struct sampled *k, uint64_t now);

/** If its process has ended, what is left of it may be removed. Returns whether that is new. */
bool sampled_note(struct sampled *k);

#endif
