/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins musters for those who ask how agents are, and forgets them at their end. */
#include "node-agent/control/rollcall.h"

#include <errno.h>
#include <stdlib.h>

#include "node-agent/control/report.h"
#include "node-agent/control/rights.h"
#include "node-agent/control/session.h"
#include "node-agent/store/store-run.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/muster.h"
#include "tree/wire/wire-place.h"

/* That one connection may have under way. */
#define ROLLCALLS_MOST 16u

struct rollcall {
	LIST_ENTRY(rollcall) entry;
	const struct session_host *sessions;
	struct muster_host host;
	struct muster *muster;
	struct limits *limits; /* of who asked for it; NULL: none */
	bool process_tables;
	char run[sizeof(((struct store_run *)0)->name)]; /* of which they are asked for */
};

static void rollcall_free(struct rollcall *r)
{
	LIST_REMOVE(r, entry);
	muster_free(r->muster);
	limits_free(r->limits);
	free(r);
}

void rollcall_end_all(struct rollcall_list *list)
{
	while (LIST_FIRST(list))
		rollcall_free(LIST_FIRST(list));
}

static void rollcall_report(void *arg, struct link *up, Evspace__Frame *frame)
{
	const struct rollcall *r = arg;

	report_answer(r->sessions, up, frame, r->limits, r->process_tables ? r->run : NULL);
}

static void rollcall_done(void *arg, struct muster *muster)
{
	(void)muster;
	rollcall_free(arg);
}

static void rollcall_limit(struct rollcall *r, const char *kind, char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = memory_format("%s=%s", kind, names[i]);

		if (limits_add(&r->limits, text) < 0)
			abort();
		free(text);
	}
}

static int rollcall_begin(const struct session_host *host, struct rollcall_list *list,
			  struct link *link, const Evspace__StatusAsk *ask, struct error *e)
{
	struct rollcall *r = memory_new(1, sizeof(*r));

	r->sessions = host;
	r->host = (struct muster_host){
		.base = host->base,
		.children = host->scopes->children,
		.answer = rollcall_report,
		.done = rollcall_done,
		.arg = r,
	};
	LIST_INSERT_HEAD(list, r, entry);
	rollcall_limit(r, "user", ask->users, ask->n_users);
	rollcall_limit(r, "run", ask->runs, ask->n_runs);
	r->process_tables = ask->process_tables && limits_own_user(ask->users, ask->n_users);
	if (!r->process_tables || rights_run(link_peer(link), host->sources->store, ask->run, false,
					     r->run, sizeof(r->run), e) == 0)
		r->muster = muster_new(&r->host, link, ask, e);
	if (r->muster)
		return 0;
	rollcall_free(r);
	return -1;
}

/* Looked at before there is any work. */
static int rollcall_check(const struct rollcall_list *list, struct error *e)
{
	const struct rollcall *r;
	unsigned n = 0;

	LIST_FOREACH (r, list, entry)
		n++;
	if (n < ROLLCALLS_MOST)
		return 0;
	errno = EMFILE;
	return errorf(e, "%u questions for the status are under way already", n);
}

int rollcall_answer(const struct session_host *host, struct rollcall_list *list, struct link *link,
		    const Evspace__StatusAsk *ask, struct error *e)
{
	const struct limits *limits = link_peer(link)->limits;
	char run[sizeof(((struct store_run *)0)->name)] = "";
	Evspace__StatusAsk whole = *ask;
	struct plan_place *all;
	int rc;

	if (!ask->place && !ask->all) {
		report_send(host, link);
		return 0;
	}
	if (rollcall_check(list, e) < 0)
		return -1;
	if (ask->place)
		return rollcall_begin(host, list, link, ask, e);
	if (active_map_is_entry(host->active_map, e) < 0)
		return -1;
	if (ask->process_tables && rights_run(link_peer(link), host->sources->store, ask->run,
					      false, run, sizeof(run), e) < 0)
		return -1;
	whole.run = run;
	whole.users = limits ? limits->users : NULL;
	whole.n_users = limits ? limits->n_users : 0;
	whole.runs = limits ? limits->runs : NULL;
	whole.n_runs = limits ? limits->n_runs : 0;
	all = active_map_all(host->active_map);
	whole.place = wire_place_new(all);
	whole.signer = active_map_signer(host->active_map);
	rc = rollcall_begin(host, list, link, &whole, e);
	wire_place_free(whole.place);
	plan_way_free(all);
	return rc;
}
