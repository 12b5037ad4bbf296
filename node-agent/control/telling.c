/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what a budget's keeper says to the pages of processes. */
#include "node-agent/control/telling.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment-told.h"

/* What is told holds so long at most. */
#define TOLD_MOST_MS UINT64_C(3600000)

/* One process, in a guarded write. */
struct telling {
	struct segment_told *page;
	struct segment_told_budget budget;
};

static int tell_guarded(void *arg)
{
	const struct telling *t = arg;

	segment_told_put_budget(t->page, &t->budget);
	return 0;
}

static void tell_process(struct telling *t, const struct store_segment *s, Evspace__Host *host,
			 struct fanout_command_said *said)
{
	int rc = -1;

	t->page = segment_told_map(&s->segment);
	if (t->page)
		rc = segment_guarded(tell_guarded, t);
	else if (errno == ENOTSUP)
		return;
	if (rc < 0)
		snprintf(said->why, sizeof(said->why), "%s (pid %d) cannot be told: %s", s->name,
			 (int)s->pid, strerror(errno));
	segment_told_unmap(t->page);
	host->processes++;
	host->changed += rc == 0;
}

void telling_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		   const struct plan_place *place, Evspace__Host *host,
		   struct fanout_command_said *said)
{
	const Evspace__Told *told = ask->told;
	const uint64_t for_ms = told->for_ms < TOLD_MOST_MS ? told->for_ms : TOLD_MOST_MS;
	struct telling t = {.budget = {
				    .mono_ns = clock_mono_ns(),
				    .for_ns = for_ms * 1000000,
				    .budget = told->budget,
				    .slowdown = told->slowdown,
				    .low = told->low,
				    .high = told->high,
				    .rate_hz = told->rate_hz,
			    }};
	const struct store_segment *s;

	TAILQ_FOREACH (s, &here->store->segments, link)
		if (s->alive && strcmp(s->run, said->run) == 0 && source_holds(here, place, s))
			tell_process(&t, s, host, said);
}
