/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `evspace deploy`, shared by its parts. */
#ifndef EVSPACE_DEPLOY_H
#define EVSPACE_DEPLOY_H

#include "consumers/cli/options.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/model/pathmap.h"
#include "consumers/deploy/target.h"

/** The options. Borrowed texts, except for the names. */
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

/** Called with each target that has ended, with or without success. */
typedef void parallel_done(void *arg, const struct target *post);

/** How targets are run. */
struct parallel_way {
	unsigned at_once;   /* most targets at once */
	unsigned timeout_s; /* time for a host to answer */
	parallel_done *done;
	void *arg;
};

/**
 * Run every target's header on its host. Results are in target->result and target->text. Returns 0
 * when all have ended, or -1 after SIGINT or SIGTERM: then targets under way were aborted, and have
 * failed.
 */
int parallel_run(struct targets *posts, const struct parallel_way *way);

#endif
