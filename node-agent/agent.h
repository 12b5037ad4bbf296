/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent: the daemon of a node; it holds the node's elements and runs its stages
 * (docs/architecture.md). */
#ifndef EVSPACE_AGENT_H
#define EVSPACE_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/model/hostlist.h"

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

/**
 * Serve @nodes, each by an agent in a child process. Before the fork this process does what is the
 * same for all: relocates libraries, makes OpenSSL's tables, reads the maps; children share that
 * memory until they write to it. "%n" in the base folder stands for the node's name, so that nodes
 * do not see each other's programs, as in containers. @o->node is not used. Prints on stderr when
 * all are ready, and which one ends unasked. SIGTERM, SIGINT and the end of this process end them
 * all. Returns 0 when all have ended as they should, or -1 with @e: one could not be started (then
 * none runs), or ended unasked.
 */
int prefork_run(const struct agent_options *o, const struct hostlist *nodes, struct error *e);

/** Write @base with "%n" replaced by the name of @node to @buf. Returns @buf, or NULL with @e. */
const char *prefork_base(const char *base, const char *node, char *buf, size_t n, struct error *e);

#endif
