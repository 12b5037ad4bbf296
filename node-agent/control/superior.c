/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares who asks for a part of a tree with the map, the command line, and the entry's passes. */
#include "node-agent/control/superior.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "node-agent/control/session.h"
#include "pathmap/model/hostlist.h"
#include "tree/data/clock.h"
#include "tree/link/pass.h"

/* To check what somebody shows takes longer than to make it up. */
#define AGAIN_NS 1000000000u

static bool is_named(const struct session_host *host, const char *name)
{
	for (size_t i = 0; host->above && i < host->above->n; i++) {
		if (strcmp(host->above->names[i], name) == 0)
			return true;
	}
	return false;
}

static bool is_known(const struct session_host *host, const struct peer *peer)
{
	return peer->roles & ROLE_AGENT && (peer->local || is_named(host, peer->name) ||
					    active_map_has_above(host->active_map, peer->name));
}

/* Signed by who decides what trees there are? */
static int pass_counts(const struct session_host *host, const struct peer *peer,
		       const struct superior_pass *shown, int64_t *until, struct error *e)
{
	const struct pass_claim claim = {shown->pass, shown->signer, host->active_map->node,
					 peer->name};
	char signer[sizeof(peer->name)];

	if (pass_check(host->tls, &claim, signer, sizeof(signer), until, e) < 0)
		return -1;
	if (strcmp(signer, pathmap_entry(host->active_map->map)) == 0 || is_named(host, signer))
		return 0;
	errno = EACCES;
	return errorf(e, "its pass is from %s, which is not the entry here", signer);
}

bool superior_is(struct superior *s, const struct session_host *host, const struct peer *peer)
{
	if (!s->judged || s->generation != host->active_map->generation) {
		s->judged = true;
		s->generation = host->active_map->generation;
		s->is = is_known(host, peer);
		s->until = INT64_MAX;
	} else if (s->is && (int64_t)time(NULL) >= s->until) {
		s->is = false;
	}
	return s->is;
}

/* What it shows makes it one from now on. */
static bool superior_raise(struct superior *s, const struct session_host *host,
			   const struct peer *peer, const struct superior_pass *shown)
{
	uint64_t now = clock_mono_ns();
	struct error why;

	if (shown->pass.len && s->refused_ns && now - s->refused_ns < AGAIN_NS)
		return false;
	s->is = pass_counts(host, peer, shown, &s->until, &why) == 0;
	if (s->is)
		s->why[0] = '\0';
	else
		snprintf(s->why, sizeof(s->why), "%.150s", why.text);
	if (shown->pass.len)
		s->refused_ns = s->is ? 0 : now;
	return s->is;
}

int superior_check(struct superior *s, const struct session_host *host, const struct peer *peer,
		   const struct superior_pass *shown, struct error *e)
{
	const char *node = host->active_map->node;

	if (superior_is(s, host, peer) || superior_raise(s, host, peer, shown))
		return 0;
	errno = EACCES;
	return errorf(e,
		      "agent %s may not stand above %s: %s's map does not say so (%s); start %s "
		      "with the entry's maps, or with --above %s",
		      peer->name, node, node, s->why, node, peer->name);
}
