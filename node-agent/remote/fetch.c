/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a scope on each node with ranks, and asks for waves as often as its rings fill. */
#include "node-agent/remote/fetch.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "pathmap/plan/plan.h"
#include "tree/data/columns-batch.h"
#include "tree/data/process.h"
#include "tree/scope/gather.h"
#include "tree/scope/hop.h"
#include "node-agent/source/row.h"

/* Time between two waves: shortest when a ring fills fast, longest when nothing comes. */
#define PACE_LEAST_NS	  1000000u
#define PACE_MOST_NS	  50000000u
#define PACE_AGAIN_NS	  1000000000u /* after nothing could be fetched */
#define FETCH_FIRST_NS	  200000000u  /* by then this host's clock line is precise */
#define FETCH_DEADLINE_MS 10000u
#define FETCH_WAY	  1u /* the only one */

/* The fetching from one node. */
struct fetch {
	struct fetches *all;
	struct plan_place *way; /* path from here to there; its first child is dialled */
	char node[64];
	Evspace__Open open;
	unsigned char id[16];
	struct gather *gather;
	struct hop_scope shared;
	struct hop *hop;
	struct fetch_take *take;
	struct event *timer;
	uint64_t wave, pace_ns;
	bool again; /* open a new scope */
};

struct fetches {
	struct event_base *base;
	struct child_set *children;
	struct fetch_host host;
	struct fetch *each;
	size_t n;
	char *everything[1];
};

static void fetch_arm(struct fetch *f, uint64_t ns)
{
	struct timeval wait = {(time_t)(ns / 1000000000u), (suseconds_t)(ns % 1000000000u / 1000u)};

	evtimer_add(f->timer, &wait);
}

static void hop_ignore(void *arg, struct hop *hop)
{
	(void)arg;
	(void)hop;
}

static const struct hop_events fetch_hop_events = {.settled = hop_ignore, .changed = hop_ignore};

/*
 * A scope with a new id starts with what the rings hold. The tuples' numbers tell which the mirrors
 * have already, so nothing is stored twice, and nothing that an ended agent or a late answer had
 * given is lost if the rings still have it.
 */
static void fetch_open(struct fetch *f)
{
	hop_free(f->hop, false);
	fetch_take_free(f->take);
	f->take = fetch_take_new(&f->all->host, f->node);
	if (getrandom(f->id, sizeof(f->id), 0) != (ssize_t)sizeof(f->id))
		abort();
	f->shared.names = fetch_take_names(f->take);
	f->hop = hop_new(&f->shared, f->way->children[0], 0, FETCH_WAY, &fetch_hop_events, f);
	f->again = false;
}

static void fetch_tick(evutil_socket_t fd, short what, void *arg)
{
	struct fetch *f = arg;
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	struct wave *w;

	(void)fd;
	(void)what;
	if (f->again)
		fetch_open(f);
	ask.wave = ++f->wave;
	ask.count = 1;
	ask.deadline_ms = FETCH_DEADLINE_MS;
	ask.have = f->wave - 1;
	w = gather_begin(f->gather, ask.wave, false, ask.have, ask.deadline_ms);
	if (hop_ask(f->hop, &ask) == FETCH_WAY)
		gather_expect(f->gather, w, 0, FETCH_WAY);
	else
		hop_miss(f->hop, w, false);
	gather_seal(f->gather, w);
}

static void fetch_late(void *arg, struct wave *w, size_t input)
{
	struct fetch *f = arg;

	(void)input;
	hop_miss(f->hop, w, true);
}

/* Halves the time when half a ring came at once, and extends it a bit when almost nothing did. */
static uint64_t pace(uint64_t ns, double fill)
{
	if (fill > 0.25)
		ns = fill > 1 ? ns / 8 : ns / 2;
	else if (fill < 0.05)
		ns += ns / 4;
	return ns < PACE_LEAST_NS ? PACE_LEAST_NS : ns > PACE_MOST_NS ? PACE_MOST_NS : ns;
}

static void fetch_done(void *arg, struct wave *w)
{
	struct fetch *f = arg;
	double fill = 0;

	columns_batch_open(&w->batch);
	if (w->leaves > 0 && fetch_take(f->take, &w->batch, &fill) == 0) {
		if (w->fill)
			fill = w->fill * 1e-3;
		f->pace_ns = pace(f->pace_ns, fill);
		fetch_arm(f, f->pace_ns);
		return;
	}
	/* the scope opens by itself when the node is reached again, and names are sent again */
	if (w->leaves == 0 && w->n_missing > 0 && w->missing[0].why == MISSING_UNREACHABLE) {
		fetch_take_lost(f->take);
		f->shared.names = fetch_take_names(f->take);
	} else {
		f->again = true;
	}
	fetch_arm(f, PACE_AGAIN_NS);
}

static const struct gather_events fetch_events = {.late = fetch_late, .done = fetch_done};

static void fetch_init(struct fetch *f, struct fetches *all, struct plan_place *way,
		       const char *node)
{
	f->all = all;
	f->way = way;
	snprintf(f->node, sizeof(f->node), "%s", node);
	evspace__open__init(&f->open);
	f->open.id.data = f->id;
	f->open.id.len = sizeof(f->id);
	f->open.backlog = true;
	f->open.reading = READ_STREAM;
	f->open.select = all->everything;
	f->open.n_select = 1;
	f->open.fetch = (char *)(uintptr_t)all->host.sources->node;
	f->gather = gather_new(all->base, 1, &fetch_events, f);
	f->shared = (struct hop_scope){
		.base = all->base,
		.children = all->children,
		.gather = f->gather,
		.open = &f->open,
		.epoch_ns = all->host.sources->epoch_ns,
	};
	f->timer = evtimer_new(all->base, fetch_tick, f);
	if (!f->timer)
		abort();
	f->pace_ns = PACE_MOST_NS;
	fetch_open(f);
	fetch_arm(f, FETCH_FIRST_NS);
}

/* Mark the processes of mirrors from an earlier agent as not seen alive. */
static void mirrors_doubt(const struct source_host *host)
{
	struct store_mirror *m;

	TAILQ_FOREACH (m, &host->store->mirrors, link) {
		struct mirror_origin doubtful = m->mirror.origin;

		doubtful.ended = true;
		if (strcmp(m->mirror.holder, host->node) == 0 && mirror_died(&m->mirror) == 0)
			(void)mirror_note(&m->mirror, &doubtful);
	}
}

struct fetches *fetches_new(struct event_base *base, const struct source_host *host,
			    struct child_set *children, struct reaper *reaper)
{
	static char everything[] = "/**";
	const char *const *nodes;
	size_t n = pathmap_nodes(host->map, &nodes);
	struct fetches *all;

	mirrors_doubt(host);
	if (!pathmap_fetches(host->map, host->node))
		return NULL;
	all = memory_new(1, sizeof(*all));
	all->base = base;
	all->children = children;
	all->host = (struct fetch_host){.sources = host, .reaper = reaper};
	all->everything[0] = everything;
	all->each = memory_new(n, sizeof(*all->each));
	for (size_t i = 0; i < n; i++) {
		struct plan_place *way = plan_way(host->map, host->node, nodes[i]);

		if (way)
			fetch_init(&all->each[all->n++], all, way, nodes[i]);
	}
	return all;
}

void fetches_free(struct fetches *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->n; i++) {
		struct fetch *f = &all->each[i];

		hop_free(f->hop, false);
		gather_free(f->gather);
		event_free(f->timer);
		fetch_take_free(f->take);
		plan_way_free(f->way);
	}
	free(all->each);
	free(all);
}

/* ---- for the status ---- */

static void add(struct remote_report *report, char *text)
{
	report->texts = memory_room(report->texts, report->n, sizeof(char *));
	report->texts[report->n++] = text;
}

/* What @node fetches of the process: channels and patterns, "p2p wait"; "": nothing. The caller
 * must free() the text. */
static char *elements_of(const struct source_host *host, const struct store_segment *s,
			 const char *node)
{
	const char *cluster = pathmap_cluster(host->map, host->node), *of;
	char *text = memory_copy(""), prefix[2 * NAME_BYTES];
	const struct recording *says;

	snprintf(prefix, sizeof(prefix), "/%s/%s/%.*s", cluster && cluster[0] ? cluster : "-",
		 host->node, process_own(s->name, s->pid), s->name);
	for (size_t i = 0; (says = pathmap_remote(host->map, &i, &of)) != NULL;) {
		char *longer;

		if (strcmp(says->remote, node) != 0 ||
		    (of[0] == '/' && !pattern_reaches(of, prefix)))
			continue;
		longer = memory_format("%s%s%s", text, *text ? " " : "", of);
		free(text);
		text = longer;
	}
	return text;
}

static void add_process(struct remote_report *report, const struct source_host *host,
			const struct store_segment *s, const char *node)
{
	char *elements = elements_of(host, s, node);
	uint64_t got, written;

	if (*elements && rows_fetched(host, s, node, &got, &written))
		add(report, memory_format("run %s, %s: %s drained to %s, at %llu of %llu", s->run,
					  s->name, elements, node, (unsigned long long)got,
					  (unsigned long long)written));
	else if (*elements)
		add(report,
		    memory_format("run %s, %s: %s kept for %s, which does not fetch at present",
				  s->run, s->name, elements, node));
	free(elements);
}

static void add_mirrors(struct remote_report *report, const struct source_host *host)
{
	const struct store_mirror *m;

	TAILQ_FOREACH (m, &host->store->mirrors, link) {
		if (strcmp(m->mirror.holder, host->node) != 0 ||
		    m->mirror.origin.channel == CHANNEL_SAMPLE)
			continue;
		add(report, memory_format("run %s, %s/%s: from %s, pid %d there%s, at %llu",
					  m->mirror.origin.run, m->mirror.origin.process,
					  m->mirror.origin.rest, m->mirror.origin.node,
					  (int)m->mirror.origin.pid,
					  mirror_died(&m->mirror) ? ", not seen alive" : "",
					  (unsigned long long)mirror_head(&m->mirror)));
	}
}

void remote_report_init(struct remote_report *report, const struct source_host *host)
{
	const struct store_segment *s;
	const char *const *nodes;
	size_t n = pathmap_nodes(host->map, &nodes);

	*report = (struct remote_report){0};
	for (size_t i = 0; i < n; i++) {
		const char *node = nodes[i];

		if (strcmp(node, host->node) == 0 || !pathmap_fetches(host->map, node))
			continue;
		TAILQ_FOREACH (s, &host->store->segments, link) {
			if (source_holds(host, NULL, s))
				add_process(report, host, s, node);
		}
	}
	add_mirrors(report, host);
}

void remote_report_fini(struct remote_report *report)
{
	for (size_t i = 0; i < report->n; i++)
		free(report->texts[i]);
	free(report->texts);
}
