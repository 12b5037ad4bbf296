/* SPDX-License-Identifier: BSD-3-Clause */
/* Rights: what a peer may do and see, by its roles and their limits (docs/rights.md), and which
 * agents may stand above this one: have it open parts of trees, carry out commands and report. */
#ifndef EVSPACE_RIGHTS_H
#define EVSPACE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node-agent/store/store.h"
#include "tree/link/link.h"
#include "tree/wire/wire.h"

/** Does the peer have one of @roles? @what completes "may not …". Returns 0, or -1 with EACCES
 * and @e. */
int rights_may(const struct peer *peer, unsigned roles, const char *what, struct error *e);

/** May the peer do what concerns all runs? Returns 0, or -1 with EACCES and @e. */
int rights_all(const struct peer *peer, const char *what, struct error *e);

/** Is this host's run of that name within @limits (NULL: there are none)? */
bool rights_within(const struct limits *limits, const char *run);

/** May the peer see this host's run of that name? */
bool rights_see(const struct peer *peer, const char *run);

/** May the peer see a run of that name of the agent that sent @status? */
bool rights_see_there(const struct peer *peer, const Evspace__Status *status, const char *run);

/**
 * Write the run that the peer means by @run to @chosen. If it is named: the peer must be allowed to
 * see it, and if @alone (no other host holds any run) it must be in @store. If not: the only live
 * one in @store that the peer may see, or the only one that the peer is limited to, else "": there
 * is none here. Returns 0, or -1 with errno and @e, which names only runs that the peer may see.
 */
int rights_run(const struct peer *peer, const struct store *store, const char *run, bool alone,
	       char *chosen, size_t room, struct error *e);

struct session_host;

/**
 * A certificate of the same CA with role "agent" is not enough, since each compute node has one.
 * Agents may stand above another one by the name in their certificate, if they are
 *
 * - allowed by its own map (pathmap/plan/lineage.h): its entry, gateways, and nodes above it in a
 *   view's tree, with alternates;
 * - named by --above at its start, the only way for an agent without a map;
 * - named in a pass (tree/link/pass.h) that is signed by the entry of its map, or by an agent that
 *   --above has named. So an applied map may put new agents above hosts that have never seen it,
 *   also after these were restarted, and only the entry can do so.
 *
 * Peers on this host's Unix socket are of the agent's own user, or root, and always may.
 */

/** The last decision about the peer of a connection: is it a superior? Begin with {0}. */
struct superior {
	bool is, judged;
	uint64_t generation; /* of the agent's map then; 0 if it is not the entry */
	int64_t until;	     /* Unix time when its pass ends */
	uint64_t refused_ns; /* CLOCK_MONOTONIC of its last bad pass; 0: none */
	char why[160]; /* why its last pass was refused; "": it was not, since it was accepted */
};

/** What an agent shows: a pass, or nothing, and the certificate of the pass's signer. */
struct superior_pass {
	ProtobufCBinaryData pass, signer;
};

/** Is @peer a superior by its name, or by a pass that was accepted before? Decided anew when
 * this agent's map changes; no longer true when the pass has ended. */
bool superior_is(struct superior *superior, const struct session_host *host,
		 const struct peer *peer);

/** The same, or by the pass that it shows now; after a bad one the next is checked only a second
 * later. Returns 0, or -1 with EACCES and @e. */
int superior_check(struct superior *superior, const struct session_host *host,
		   const struct peer *peer, const struct superior_pass *shown, struct error *e);

#endif
