/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks what a peer asks for against its roles and limits; does not name what it may not see. */
#include "node-agent/control/rights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node-agent/store/store-run.h"
#include "tree/data/span.h"
#include "node-agent/control/session.h"
#include "pathmap/model/hostlist.h"
#include "tree/data/clock.h"
#include "tree/link/pass.h"

int rights_may(const struct peer *peer, unsigned roles, const char *what, struct error *e)
{
	if (peer->roles & roles)
		return 0;
	errno = EACCES;
	if (peer->local)
		return errorf(e, "%s may not %s: this agent lets other users observe only",
			      peer->name, what);
	return errorf(e,
		      "%s may not %s: its certificate does not have the role for that; make one: "
		      "evspace-certs %s DIR NAME, and say --identity NAME",
		      peer->name, what, roles & ROLE_OBSERVE ? "observe" : "control");
}

int rights_all(const struct peer *peer, const char *what, struct error *e)
{
	if (!peer->limits)
		return 0;
	errno = EACCES;
	return errorf(e, "%s may not %s: its certificate is limited to some runs", peer->name,
		      what);
}

static bool sees_user(const struct limits *limits)
{
	return !limits || limits_own_user(limits->users, limits->n_users);
}

bool rights_within(const struct limits *limits, const char *run)
{
	return limits_run(limits, run) && sees_user(limits);
}

bool rights_see(const struct peer *peer, const char *run)
{
	return rights_within(peer->limits, run);
}

bool rights_see_there(const struct peer *peer, const Evspace__Status *status, const char *run)
{
	const struct limits *l = peer->limits;

	return !l ||
	       (limits_run(l, run) && limits_user(l->users, l->n_users, status->user, status->uid));
}

static void list_add(char *list, size_t room, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, room - used, "%s%s", used ? ", " : " ", name);
}

static int run_named(const struct peer *peer, const struct store *store, const char *run,
		     bool alone, struct error *e)
{
	struct store_run *runs;
	char list[512] = "";
	bool found = false;
	size_t n;

	errno = EACCES;
	if (!limits_run(peer->limits, run) || (alone && !sees_user(peer->limits)))
		return errorf(e,
			      "%s may not see run '%s': its certificate is limited to other runs",
			      peer->name, run);
	n = store_runs(store, &runs);
	for (size_t i = 0; i < n; i++) {
		found = found || strcmp(runs[i].name, run) == 0;
		if (rights_see(peer, runs[i].name))
			list_add(list, sizeof(list), runs[i].name);
	}
	free(runs);
	/* Another host may hold a run that is not here: only a single host can say that it does
	 * not exist. */
	if (found || n == 0 || !alone || span_is_run(run))
		return 0;
	errno = ESRCH;
	return errorf(e, "there is no run %s%s%s", run, list[0] ? "; there are" : "", list);
}

static int run_unnamed(const struct peer *peer, const struct store *store, char *chosen,
		       size_t room, struct error *e)
{
	const struct limits *limits = peer->limits;
	struct store_run *runs;
	size_t n = store_runs(store, &runs), live = 0;
	char list[512] = "";

	for (size_t i = 0; i < n; i++) {
		if (runs[i].alive == 0 || span_is_run(runs[i].name) ||
		    !rights_see(peer, runs[i].name))
			continue;
		live++;
		snprintf(chosen, room, "%s", runs[i].name);
		list_add(list, sizeof(list), runs[i].name);
	}
	free(runs);
	if (live == 1 || (live == 0 && (!limits || !limits->n_runs)))
		return 0;
	/* name the run, since another host would choose among all of its runs */
	for (size_t i = 0; live == 0 && i < limits->n_runs; i++) {
		snprintf(chosen, room, "%s", limits->runs[i]);
		list_add(list, sizeof(list), limits->runs[i]);
	}
	if (live == 0 && limits->n_runs == 1)
		return 0;
	errno = ENOTUNIQ;
	return errorf(e, "several runs are live; say which with --run:%s", list);
}

int rights_run(const struct peer *peer, const struct store *store, const char *run, bool alone,
	       char *chosen, size_t room, struct error *e)
{
	snprintf(chosen, room, "%s", run);
	return run[0] ? run_named(peer, store, run, alone, e)
		      : run_unnamed(peer, store, chosen, room, e);
}

/* ---- which agents may stand above ---- */

/* After a bad pass, how long to wait: checking a pass takes longer than forging one. */
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

/* Was the pass signed by the entry, which decides on trees? */
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

/* Accept the peer from now on because of its pass. */
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
