/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads events of a run, and what their collectors took, for the critical share. */
#include "consumers/perturb/critical-live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/evspace-client.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Looks a second, events that are enough, and ranks of which some is kept. */
#define RATE_HZ	   10
#define EVENTS	   200000u
#define RANKS_MOST 65536u

/* Events that were lost are put so many times between those that came before and after them. */
#define FILLERS 64u

#define NO_HOST UINT32_MAX

/* How far an element has come. */
struct reached {
	char *name;
	uint64_t next;	  /* number of the next event */
	int64_t start_ns; /* of the last one */
	UT_hash_handle hh;
};

struct gathered {
	double cost_ns[CHANNEL_PROGRAMS];
	struct critical_event *events;
	size_t n;
	struct critical_hole *holes;
	size_t n_holes;
	uint32_t comm, ranks; /* MPI_COMM_WORLD; no ranks: it has not come yet */
	uint32_t *host_of;    /* of each rank */
	char **hosts;	      /* their names: "/cluster/node" */
	uint32_t n_hosts;
	struct reached *reached; /* hash table by name */
	int64_t before_ns;	 /* when the last wave was asked for; 0: there was none */
};

void critical_live_costs(struct critical_live_costs *costs, const struct evspace_costs *said)
{
	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++)
		costs->event_ns[i] = NAN;
	for (size_t i = 0; i < said->n_channels; i++) {
		int channel = channel_find(said->channels[i].channel);

		if (channel >= 0 && channel < CHANNEL_PROGRAMS)
			costs->event_ns[channel] = said->channels[i].event_ns;
	}
}

/* A channel of which too few were timed is as the others. Returns whether any were. */
static bool costs_fill(struct gathered *r, const struct critical_live_costs *costs)
{
	double sum = 0, known = 0;

	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++)
		if (isfinite(costs->event_ns[i])) {
			sum += costs->event_ns[i];
			known++;
		}
	for (unsigned i = 0; i < CHANNEL_PROGRAMS && known > 0; i++)
		r->cost_ns[i] = isfinite(costs->event_ns[i]) ? costs->event_ns[i] : sum / known;
	return known > 0;
}

/* ---- events ---- */

/* The number of the host in "/cluster/node/rank/…". */
static uint32_t host_of(struct gathered *r, uint32_t rank, const char *name)
{
	const char *end = strchr(name + 1, '/');
	uint32_t i = 0;
	size_t length;

	if (r->host_of[rank] != NO_HOST)
		return r->host_of[rank];
	end = end ? strchr(end + 1, '/') : NULL;
	length = end ? (size_t)(end - name) : strlen(name);
	while (i < r->n_hosts &&
	       (strncmp(r->hosts[i], name, length) != 0 || r->hosts[i][length] != '\0'))
		i++;
	if (i == r->n_hosts) {
		r->hosts = memory_room(r->hosts, i, sizeof(*r->hosts));
		r->hosts[r->n_hosts++] = memory_copy_bytes(name, length);
	}
	return r->host_of[rank] = i;
}

static void world_begin(struct gathered *r, const struct evspace_client *client, uint32_t comm)
{
	size_t ranks = evspace_members(client, comm, NULL, 0);

	if (ranks > RANKS_MOST)
		return;
	r->comm = comm;
	r->ranks = (uint32_t)ranks;
	r->host_of = memory_new(ranks + 1, sizeof(*r->host_of));
	memset(r->host_of, 0xff, ranks * sizeof(*r->host_of));
}

static bool is_collective(const struct gathered *r, const struct evspace_event *e)
{
	return e->comm == r->comm && op_is_collective(e->op_number) &&
	       op_synchronizes(e->op_number) && !(e->flags & EVSPACE_UNNUMBERED);
}

static void hole_add(struct gathered *r, int64_t from_ns, int64_t to_ns)
{
	r->holes = memory_room(r->holes, r->n_holes, sizeof(*r->holes));
	r->holes[r->n_holes++] = (struct critical_hole){from_ns, to_ns};
}

static void add(struct gathered *r, const struct critical_event *e)
{
	r->events = memory_room(r->events, r->n, sizeof(*r->events));
	r->events[r->n++] = *e;
}

/* How far the element had come before the event; it has come so far now. Its next is 0: that is not
 * known. */
static struct reached reach(struct gathered *r, const struct evspace_event *e)
{
	struct reached *at, before;

	HASH_FIND_STR(r->reached, e->name, at);
	if (!at) {
		at = memory_new(1, sizeof(*at));
		at->name = memory_copy(e->name);
		HASH_ADD_KEYPTR(hh, r->reached, at->name, strlen(at->name), at);
	}
	before = *at;
	at->next = e->number + 1;
	at->start_ns = e->start_ns;
	return before;
}

/* Events of the element were overwritten before they could be read: their number is known, and
 * between which two they were. */
static void fill(struct gathered *r, const struct reached *from, const struct evspace_event *e,
		 struct critical_event filler)
{
	uint64_t lost = e->number - from->next;
	unsigned n = lost < FILLERS ? (unsigned)lost : FILLERS;
	double apart_ns = (double)(e->start_ns - from->start_ns) / (n + 1);

	if (op_synchronizes(e->op_number))
		hole_add(r, from->start_ns, e->start_ns);
	filler.collective = false;
	filler.cost_ns *= (double)lost / n;
	for (unsigned i = 1; i <= n; i++) {
		filler.start_ns = from->start_ns + (int64_t)(i * apart_ns);
		add(r, &filler);
	}
}

static void event_add(struct gathered *r, const struct evspace_event *e)
{
	int channel = op_channel(e->op_number);
	struct critical_event event;
	struct reached before;

	/* completions are in the calls that complete them */
	if ((e->flags & (EVSPACE_COMPLETION | EVSPACE_RUNNING)) || channel < 0 ||
	    channel >= CHANNEL_PROGRAMS || e->rank < 0 || (uint32_t)e->rank >= r->ranks)
		return;
	event = (struct critical_event){
		.start_ns = e->start_ns,
		.error_ns = e->error_ns,
		.cost_ns = r->cost_ns[channel],
		.rank = (uint32_t)e->rank,
		.host = host_of(r, (uint32_t)e->rank, e->name),
		.number = e->seq_or_tag,
		.collective = is_collective(r, e),
	};
	before = reach(r, e);
	if (before.next > 0 && e->number > before.next && e->number < UINT64_MAX &&
	    e->start_ns > before.start_ns)
		fill(r, &before, e, event);
	add(r, &event);
}

/* A look reads one element after the other: of what came while the first and the last one did, some
 * is missing. One that is not taken to its end is as the last one. */
static void wave_take(struct gathered *r, struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	struct evspace_event e;

	while (r->n < 2 * EVENTS && evspace_event(client, &e)) {
		if (!r->ranks && evspace_is_world(client, e.comm))
			world_begin(r, client, e.comm);
		event_add(r, &e);
	}
	if (w->again || r->n >= 2 * EVENTS)
		return;
	if (!r->before_ns)
		hole_add(r, INT64_MIN, w->taken_ns);
	r->before_ns = w->taken_ns - (int64_t)(w->latency_s * 1e9);
}

static void gathered_fini(struct gathered *r)
{
	struct reached *at, *next;

	HASH_ITER(hh, r->reached, at, next)
	{
		HASH_DEL(r->reached, at);
		free(at->name);
		free(at);
	}
	for (uint32_t i = 0; i < r->n_hosts; i++)
		free(r->hosts[i]);
	free(r->hosts);
	free(r->host_of);
	free(r->holes);
	free(r->events);
}

/* ---- the run ---- */

/* Returns NULL, or why it did not work. */
static const char *events_read(struct gathered *r, const struct common *common, const char *run,
			       uint64_t ns)
{
	static char why[256];
	struct evspace_options look = common->look;
	uint64_t end_ns = clock_mono_ns() + ns, now;
	enum evspace_failure failure;
	struct evspace_client *client;
	int rc = 1;

	look.run = run;
	look.view = "events";
	look.rate_hz = RATE_HZ;
	look.hurry = 0;
	client = evspace_open(&look, &failure, why, sizeof(why));
	if (!client)
		return why;
	while (rc >= 0 && r->n < EVENTS && (now = clock_mono_ns()) < end_ns) {
		rc = evspace_next(client, (int)((end_ns - now) / 1000000) + 1);
		if (rc == 1)
			wave_take(r, client);
	}
	if (rc < 0)
		snprintf(why, sizeof(why), "%s", evspace_why(client));
	evspace_close(client);
	return rc < 0 ? why : NULL;
}

const char *critical_live_read(const struct common *common, const char *run, uint64_t ns,
			       const struct critical_live_costs *costs,
			       struct critical_share *share)
{
	struct gathered r = {.n = 0};
	const char *why = NULL;

	*share = (struct critical_share){.estimate = NAN, .low = NAN, .high = NAN, .delay = NAN};
	if (!costs_fill(&r, costs))
		return "no event was timed yet";
	why = events_read(&r, common, run, ns);
	hole_add(&r, r.before_ns, INT64_MAX);
	if (!why)
		*share = critical_share(r.events, r.n, r.ranks, r.holes, r.n_holes);
	gathered_fini(&r);
	if (!why && share->collectives < CRITICAL_LEAST)
		why = "the program made too few collectives on MPI_COMM_WORLD that nobody leaves "
		      "before all have come; --duration measures longer";
	else if (!why && share->told == 0)
		why = "clocks of hosts are known less well than ranks arrive apart";
	if (why)
		share->estimate = share->low = share->high = share->delay = NAN;
	return why;
}
