/* SPDX-License-Identifier: BSD-3-Clause */
/* Rights: what the one at the other end of a link may do and see, by its roles and their limits
 * (docs/rights.md), and which other agents may have this one open parts of trees, order and report.
 */
#ifndef EVSPACE_RIGHTS_H
#define EVSPACE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node-agent/store/store.h"
#include "tree/link/link.h"
#include "tree/wire/wire.h"

/** Has it one of @roles? @what completes "may not …". Returns 0, or -1 with EACCES and @e. */
int rights_may(const struct peer *peer, unsigned roles, const char *what, struct error *e);

/** May it do what concerns all runs? Returns 0, or -1 with EACCES and @e. */
int rights_all(const struct peer *peer, const char *what, struct error *e);

/** Is this host's run of that name within @limits (NULL: there are none)? */
bool rights_within(const struct limits *limits, const char *run);

/** May it see this host's run of that name? */
bool rights_see(const struct peer *peer, const char *run);

/** May it see a run of that name of the agent which @status is of? */
bool rights_see_there(const struct peer *peer, const Evspace__Status *status, const char *run);

/**
 * The run that it means by @run. Named: one that it may see, and when @alone (nobody else holds
 * any) one that is in @store. Not named: the only live one in @store that it may see, or the only
 * one that it is limited to, else "": nothing is here. Written to @chosen. Returns 0, or -1 with
 * errno and @e, which names only runs that it may see.
 */
int rights_run(const struct peer *peer, const struct store *store, const char *run, bool alone,
	       char *chosen, size_t room, struct error *e);

struct session_host;

/**
 * A certificate of the same CA that says "agent" is not enough: each compute node has one. These
 * may stand above an agent, by the name in their certificate:
 *
 * - whom the agent's own map lets stand there (pathmap/plan/lineage.h): its entry, gateways, and
 * who is above it in a view's tree, with alternates;
 * - whom --above has named when it was started, which is all for an agent without a map;
 * - whom the entry of the agent's map, or one that --above has named, has signed a pass for
 *   (tree/link/pass.h). So an applied map may put new agents above hosts that have never seen it,
 * at any time, also after these were restarted, and nobody but the entry can say so.
 *
 * Who comes through this host's Unix socket is of the agent's own user, or root, and may anyway.
 */

/** Whether the peer of a connection is one of them, as it was judged last. Begin with {0}. */
struct superior {
	bool is, judged;
	uint64_t generation; /* of the agent's map then; 0 for all but entries */
	int64_t until;	     /* Unix time at which what was said in its favour ends */
	uint64_t refused_ns; /* CLOCK_MONOTONIC, when a pass was no good last; 0: none was */
	char why[160];	     /* what its last pass lacks; "": it was not refused since it was one */
};

/** What an agent has to show: a pass, or nothing, and the certificate that it is checked by. */
struct superior_pass {
	ProtobufCBinaryData pass, signer;
};

/**
 * Is @peer one by its name, or by the pass that was good before? It is judged anew when this agent
 * goes by another map, and is none any more when the pass has ended.
 */
bool superior_is(struct superior *superior, const struct session_host *host,
		 const struct peer *peer);

/**
 * The same, or by the pass that it shows; after one that is no good the next is looked at in a
 * second. Returns 0, or -1 with EACCES and @e.
 */
int superior_check(struct superior *superior, const struct session_host *host,
		   const struct peer *peer, const struct superior_pass *shown, struct error *e);

#endif
