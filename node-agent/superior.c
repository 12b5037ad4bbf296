/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares who asks for a part of a tree with the map, the command line, and the entry's passes. */
#include "node-agent/superior.h"

#include <errno.h>
#include <string.h>

#include "node-agent/session.h"
#include "pathmap/hostlist.h"
#include "pathmap/lineage.h"
#include "tree/pass.h"

static bool is_named(const struct session_host *host, const char *name)
{
	for (size_t i = 0; host->above && i < host->above->n; i++) {
		if (strcmp(host->above->names[i], name) == 0)
			return true;
	}
	return false;
}

/* Signed by who decides what trees there are? */
static int pass_counts(const struct session_host *host, const struct peer *peer,
		       const ProtobufCBinaryData *pass, struct error *e)
{
	char signer[sizeof(peer->name)];

	if (pass_check(host->tls, pass, host->chart->node, peer->name, signer, sizeof(signer), e) <
	    0)
		return -1;
	if (strcmp(signer, pathmap_entry(host->chart->map)) == 0 || is_named(host, signer))
		return 0;
	errno = EACCES;
	return errorf(e, "its pass is from %s, which is not the entry here", signer);
}

bool superior_is_known(const struct session_host *host, const struct peer *peer)
{
	return peer->roles & ROLE_AGENT &&
	       (peer->local || is_named(host, peer->name) ||
		lineage_has(host->chart->map, host->chart->node, peer->name));
}

int superior_check(const struct session_host *host, const struct peer *peer,
		   const ProtobufCBinaryData *pass, struct error *e)
{
	const char *node = host->chart->node;
	struct error why;

	if (superior_is_known(host, peer) || pass_counts(host, peer, pass, &why) == 0)
		return 0;
	errno = EACCES;
	return errorf(e,
		      "agent %s may not stand above %s: %s's map does not say so (%s); start %s "
		      "with the entry's maps, or with --above %s",
		      peer->name, node, node, why.text, node, peer->name);
}
