/* SPDX-License-Identifier: BSD-3-Clause */
/* The claim on a run's name: only one evspace run has it and its folder at a time. */
#ifndef EVSPACE_CLAIM_H
#define EVSPACE_CLAIM_H

#include "consumers/cli/preload.h"
#include "node-agent/collect/core/settings.h"
#include "pathmap/base/error.h"

/** A run's name and folder. */
struct claim {
	struct settings settings; /* name, base and folder, as collectors will read them */
	int folder;		  /* open and locked (flock(2)) as long as it is ours; -1: none */
};

/**
 * Put @options and the environment's settings into the environment (preload_settings()), with a run
 * name made of @program and the time unless one is given, then make the run's folder and lock it.
 * Removes what an ended run of a given name left there. Returns 0, or -1 with @e and errno: EINVAL
 * (a setting is wrong), EBUSY (a run of that name is live), or why there is no folder (ENOSPC,
 * EACCES …; the settings are set all the same).
 */
int claim_take(struct claim *claim, const struct preload_options *options, const char *program,
	       struct error *e);

/** Remove the folder again, while it is empty. */
void claim_drop(struct claim *claim);

/** Unlock the folder, which stays. */
void claim_fini(struct claim *claim);

#endif
