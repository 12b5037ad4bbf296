/* SPDX-License-Identifier: BSD-3-Clause */
/* The claim on a run's name: one evspace run at a time has it, and the folder that goes with it. */
#ifndef EVSPACE_CLAIM_H
#define EVSPACE_CLAIM_H

#include "consumers/cli/preload.h"
#include "node-agent/collect/core/settings.h"
#include "pathmap/base/error.h"

/** A run's name and folder. */
struct claim {
	struct settings settings; /* name, base and folder, as collectors will read them */
	int folder;		  /* open and locked (flock(2)) as long as we have it; -1: none */
};

/**
 * Put what @options and the environment say into the environment (preload_settings()), with a run
 * name made of @program and the time if they say none, then make the run's folder and lock it. What
 * an ended run of a given name left there is removed. Returns 0, or -1 with @e and errno: EINVAL (a
 * setting is wrong), EBUSY (a run of that name lives), or why there is no folder (ENOSPC, EACCES …;
 * the settings then stand all the same).
 */
int claim_take(struct claim *claim, const struct preload_options *options, const char *program,
	       struct error *e);

/** Remove the folder again, in which nothing has been made. */
void claim_drop(struct claim *claim);

/** Let go of it. The folder stays. */
void claim_fini(struct claim *claim);

#endif
