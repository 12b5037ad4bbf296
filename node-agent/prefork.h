/* SPDX-License-Identifier: BSD-3-Clause */
/* The prefork: agents of several nodes on one machine, forked from one process. */
#ifndef EVSPACE_PREFORK_H
#define EVSPACE_PREFORK_H

#include "node-agent/agent.h"
#include "pathmap/model/hostlist.h"

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
