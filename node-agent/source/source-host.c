/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes and elements a node's sources read: what is on it, and what others fetch. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/source/source.h"
#include "pathmap/plan/holding.h"
#include "tree/data/process.h"

/* Is the rank on this node by the list? Where there is none, every rank may be. */
static bool source_may_hold(const struct source_host *host, const struct plan_place *place,
			    int rank)
{
	if (!(place ? place->placed : host->placed))
		return true;
	return rank >= 0 && holding_has(place ? place->holds : host->holds, (unsigned)rank);
}

bool source_holds(const struct source_host *host, const struct plan_place *place,
		  const struct store_segment *s)
{
	char own[sizeof(s->host)] = "";

	if (strcmp(s->host, host->node) == 0 && process_is_monitor(s->rank))
		return true;
	/* of another node's agent, which may run on this host as well */
	if (s->rank == PROCESS_AGENT)
		return false;
	/* a map says nothing of tasks, nor of worlds that the program spawns */
	if ((place ? place->placed : host->placed) && !process_is_task(s->rank) &&
	    !process_is_monitor(s->rank) && !s->world)
		return source_may_hold(host, place, s->rank);
	gethostname(own, sizeof(own) - 1);
	return strcmp(s->host, host->node) == 0 || strcmp(s->host, own) == 0;
}

/* Of a file that nothing can be told of but its name, whose it is follows from that. */
uint32_t source_unreadable(const struct source_host *host, const struct plan_place *place,
			   const char *run)
{
	const struct store_refusal *r;
	uint32_t n = 0;

	TAILQ_FOREACH (r, &host->store->refusals, link) {
		if (strcmp(r->run, run) == 0 && (r->unreadable || (r->pid > 0 && !r->filed)) &&
		    (r->rank < 0 || process_is_task(r->rank) ||
		     source_may_hold(host, place, r->rank)))
			n++;
	}
	return n;
}

const struct clock_host *source_clock(const struct source_host *host)
{
	uint64_t ns =
		clock_host_check(host->clock, clock_host_slept_ns(), clock_pair_take(clock_kind()));

	if (ns)
		fprintf(stderr,
			"evspace: %s was suspended for %.1f s: its clock is related to time anew; "
			"what was recorded before and is read from now on may have wrong times\n",
			host->node, (double)ns / 1e9);
	return host->clock;
}

bool source_ticks_alike(const struct store_segment *s)
{
	return s->segment.said.clock_kind == clock_kind();
}

struct clock_line source_line(const struct source_host *host, const struct store_segment *s)
{
	enum clock_kind kind = s->segment.said.clock_kind;

	return clock_line_through(kind, s->segment.said.born, clock_pair_take(kind),
				  host->epoch_ns);
}

bool source_selects(char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (pattern_match(patterns[i], name))
			return true;
	}
	return false;
}

/* The overflow element is of no channel; state lines and regions, of no capacity, are of now. */
const char *source_remote(const struct source_host *host, const struct segment_element *e)
{
	const struct recording *recording = pathmap_recording(host->map, channel_name(e->channel));

	if (!recording || !recording->collected || !recording->remote[0] ||
	    e->thread == SEGMENT_NO_THREAD || e->capacity == 0 ||
	    strcmp(recording->remote, host->node) == 0)
		return NULL;
	return recording->remote;
}

void source_socket(const struct store *store, const char *node, char *path)
{
	snprintf(path, SOURCE_SOCKET, "%s/agent-%s.sock", store->base, node);
}
