/* SPDX-License-Identifier: BSD-3-Clause */
/* Superiors: the other agents that may have this one open parts of trees, order and report. */
#ifndef EVSPACE_SUPERIOR_H
#define EVSPACE_SUPERIOR_H

#include "tree/link.h"
#include "tree/wire.h"

struct session_host;

/**
 * A certificate of the same CA that says "agent" is not enough: each compute node has one. These
 * may stand above an agent, by the name in their certificate:
 *
 * - whom the agent's own map lets stand there (pathmap/lineage.h): its entry, gateways, and who is
 *   above it in a view's tree, with alternates;
 * - whom --above has named when it was started, which is all for an agent without a map;
 * - whom the entry of the agent's map, or one that --above has named, has signed a pass for
 *   (tree/pass.h). So an applied map may put new agents above hosts that have never seen it, at any
 *   time, also after these were restarted, and nobody but the entry can say so.
 *
 * Who comes through this host's Unix socket is of the agent's own user, or root, and may anyway.
 */

/** May @peer by its name alone? */
bool superior_is_known(const struct session_host *host, const struct peer *peer);

/** May @peer by its name, or by the @pass that it shows? Returns 0, or -1 with EACCES and @e. */
int superior_check(const struct session_host *host, const struct peer *peer,
		   const ProtobufCBinaryData *pass, struct error *e);

#endif
