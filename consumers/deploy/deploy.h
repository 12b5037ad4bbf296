/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of `evspace deploy` share: its command line. */
#ifndef EVSPACE_DEPLOY_H
#define EVSPACE_DEPLOY_H

#include "consumers/cli/options.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/model/pathmap.h"

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

#endif
