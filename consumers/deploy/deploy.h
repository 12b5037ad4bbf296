/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of `evspace deploy` share: its command line. */
#ifndef EVSPACE_DEPLOY_H
#define EVSPACE_DEPLOY_H

#include "consumers/cli/options.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/model/pathmap.h"
#include "consumers/deploy/target.h"

/** What was said. Borrowed texts, but for the names. */
struct deploy_options {
	struct common common; /* --json, --profile, words */
	const char *action;   /* "up", "down", "restart" or "status" */
	const char *maps;
	const char *tls, *identity, *connect, *ssh_config, *job;
	struct hostlist only;
	unsigned at_once, timeout_s;
};

/** `evspace deploy status`: ask all agents of the map. Returns the exit code. (deploy-status.c) */
int deploy_status(const struct deploy_options *o, const struct pathmap *map);

/** Called with each post that has ended, well or not. */
typedef void parallel_done(void *arg, const struct target *post);

/** How it is done. */
struct parallel_way {
	unsigned at_once;   /* posts under way at most */
	unsigned timeout_s; /* until a host answers at all */
	parallel_done *done;
	void *arg;
};

/**
 * Have every post do what its header says. What came of each is in post->result and post->text.
 * Returns 0 when all have ended, or -1 when SIGINT or SIGTERM came: then those that were under way
 * have been broken off, and have failed.
 */
int parallel_run(struct targets *posts, const struct parallel_way *way);

#endif
