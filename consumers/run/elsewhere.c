/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the agent of this host what those of its map hold of a run. */
#include "consumers/run/elsewhere.h"

#include <string.h>

#include "consumers/client/client-ask.h"
#include "consumers/run/summary.h"

void elsewhere_ask(struct elsewhere *elsewhere, const char *run)
{
	const struct evspace_options options = {.connect = NULL};
	Evspace__StatusAsk all = EVSPACE__STATUS_ASK__INIT;
	Evspace__Frame ask = EVSPACE__FRAME__INIT;
	enum evspace_failure failure;
	char why[sizeof(((struct error *)0)->text)];

	all.all = true;
	ask.kind_case = EVSPACE__FRAME__KIND_STATUS_ASK;
	ask.status_ask = &all;
	elsewhere->run = run;
	elsewhere->reply =
		client_ask(&options, &ask, EVSPACE__FRAME__KIND_STATUS, &failure, why, sizeof(why));
}

void elsewhere_fini(struct elsewhere *elsewhere)
{
	if (elsewhere->reply)
		evspace__frame__free_unpacked(elsewhere->reply, NULL);
	elsewhere->reply = NULL;
}

static enum elsewhere_state status_look(const Evspace__Status *status, const char *run,
					unsigned *processes, const char **why)
{
	if (status->why) {
		*why = status->text;
		return ELSEWHERE_SILENT;
	}
	for (size_t i = 0; i < status->n_runs; i++)
		if (strcmp(status->runs[i]->name, run) == 0)
			*processes += status->runs[i]->processes;
	return ELSEWHERE_HELD;
}

enum elsewhere_state elsewhere_of(const struct elsewhere *elsewhere, const char *host,
				  unsigned *processes, const char **why)
{
	const Evspace__Status *all = elsewhere->reply ? elsewhere->reply->status : NULL;

	*processes = 0;
	*why = "";
	for (size_t i = 0; all && i < all->n_below; i++)
		if (summary_same_host(all->below[i]->node, host))
			return status_look(all->below[i], elsewhere->run, processes, why);
	return ELSEWHERE_UNKNOWN;
}
