/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent: the daemon of a node; it holds the node's elements and runs its stages
 * (docs/architecture.md). */
#ifndef EVSPACE_AGENT_H
#define EVSPACE_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"

struct allow;
struct active_map;
struct hostlist;

/** What an agent is started with. Strings stay the caller's. */
struct agent_options {
	const char *base;    /* base folder of the segments */
	const char *pathmap; /* folder of the three maps; NULL: this machine alone */
	const char *node;    /* NULL: the host's name */
	const char
		*listen; /* "HOST:PORT"; NULL: the node's address in the pathmap, if it has one */
	const char *tls; /* folder of certificates; needed to listen or to dial */
	const struct hostlist
		*above; /* agents that may stand above it besides those of its map, or NULL */
	const struct allow *allow; /* other users of this host that may observe; NULL: none */
	uint64_t retention_ns;	   /* how long segments of dead processes are kept */
	bool monitored; /* its monitor records from the start on, with or without readers */
	struct active_map *active_map; /* NULL, or one to take over (active_map_make_own()) */
};

struct agent;

/** Map existing segments, listen, and be ready to serve: always on the Unix socket
 * BASE/agent-NODE.sock, and by TLS when there is an address. Returns NULL with errno and @e. */
struct agent *agent_new(const struct agent_options *options, struct error *e);
void agent_free(struct agent *agent);

/** Serve until SIGTERM or SIGINT. Uses no CPU while there are no requests. */
void agent_run(struct agent *agent);

/** The address that it listens on ("HOST:PORT", with the bound port), "" if none. */
const char *agent_address(const struct agent *agent);

/** The path of its Unix socket. */
const char *agent_socket(const struct agent *agent);

#endif
