/* SPDX-License-Identifier: BSD-3-Clause */
/* Hearsay: what a child says that names stand for, as far as it is the child's to say. */
#ifndef EVSPACE_HEARSAY_H
#define EVSPACE_HEARSAY_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "tree/scope/below.h"
#include "tree/data/names.h"
#include "tree/wire/wire.h"

/** What has been learnt from one child. Plain data, usable when zeroed. */
struct hearsay {
	struct names_use use; /* of the names, by this child alone */
	/* Some was not learnt, as it would have used too much room, or time: */
	bool many_names, many_comms, slow;
	size_t left_out; /* names and communicators, for want of memory */
	size_t stolen;	 /* names that bear another host's, and the last of them: */
	char theft[NAME_BYTES];
};

/** A child of place @own: the node, and what is below. */
struct hearsay_child {
	const char *node;
	const struct below *below;
	uint32_t own;
};

/**
 * Learn what @answer from @child announces. Of places that are not below it nothing is learnt, but
 * for groups that nobody has named, nor does this place; no names of hosts that are not there;
 * nothing for which @names are granted no memory; and nothing more when it has used more of @names'
 * room than it leaves for all others. Returns 0; 1 with @e when that is so for the first time, or
 * of many more than when it was told, or somebody contradicts it for the first time; or -1 with
 * EPROTO and @e: it announces more than one answer may.
 */
int hearsay_learn(struct hearsay *said, const struct hearsay_child *child,
		  const Evspace__Answer *answer, struct names *names, struct error *e);

#endif
