/* SPDX-License-Identifier: BSD-3-Clause */
/* Hearsay: names that a child says, as far as it may say them. */
#ifndef EVSPACE_HEARSAY_H
#define EVSPACE_HEARSAY_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "tree/scope/below.h"
#include "tree/data/names.h"
#include "tree/wire/wire.h"

/** What was learnt from one child. Plain data, usable when zeroed. */
struct hearsay {
	struct names_use use; /* of the names, by this child alone */
	/* limits that were reached, so that some was not learnt: room, room, time */
	bool many_names, many_comms, slow;
	size_t left_out; /* names and communicators not learnt since there was no memory */
	size_t stolen;	 /* names that claim another host, and the last of them: */
	char theft[NAME_BYTES];
};

/** A child of place @own: its node, and what is below. */
struct hearsay_child {
	const char *node;
	const struct below *below;
	uint32_t own;
};

/**
 * Learn what @answer from @child announces, except: names of places that are not below it (groups
 * that nobody has named are accepted) or of this place; names of hosts that are not there; names
 * for which @names are granted no memory; and names beyond the room that it leaves for all others.
 * Returns 0; 1 with @e if some of these are left out for the first time, or many more than at the
 * last report, or somebody contradicts it for the first time; or -1 with EPROTO and @e: it
 * announces more than one answer may.
 */
int hearsay_learn(struct hearsay *said, const struct hearsay_child *child,
		  const Evspace__Answer *answer, struct names *names, struct error *e);

#endif
