/* SPDX-License-Identifier: BSD-3-Clause */
/* The prefork: agents of several nodes on one machine, forked off one process. */
#ifndef EVSPACE_PREFORK_H
#define EVSPACE_PREFORK_H

#include "node-agent/agent.h"
#include "pathmap/model/hostlist.h"

/**
 * Serve @nodes, an agent each, in processes that are forked off this one when it has done what is
 * the same for all: libraries relocated, OpenSSL's tables made, the maps read. They share that
 * memory until one of them writes to it. "%n" in the base folder is the node's name: for nodes that
 * do not see each other's programs, as containers. @o->node is not used.
 * Says on stderr when all are ready and which one ends unasked. SIGTERM and SIGINT end them all,
 * and so does the end of this process. Returns 0 when all have ended as they should, or -1 with @e:
 * one could not be started (then none runs), or ended unasked.
 */
int prefork_run(const struct agent_options *o, const struct hostlist *nodes, struct error *e);

/** @base with the name of @node for "%n", written to @buf. Returns @buf, or NULL with @e. */
const char *prefork_base(const char *base, const char *node, char *buf, size_t n, struct error *e);

#endif
