/* SPDX-License-Identifier: BSD-3-Clause */
/* Views that probes share: what waves bring goes to the probes that it is about. */
#include "consumers/mir/probe-view.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/cli/toll.h"
#include "consumers/client/client-budget.h"
#include "consumers/mir/probe-define.h"
#include "consumers/mir/probe-span.h"
#include "consumers/mir/probe-cell.h"
#include "consumers/watch/events.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

/* Waves a second; what a request waits for is two of them. */
#define RATE_HZ	    5
#define DEADLINE_MS 900

#define NS_PER_MS 1e6

struct probe_view {
	LIST_ENTRY(probe_view) link;
	struct probes *probes;
	char *define;
	struct evspace_client *client;
	unsigned users;
	uint64_t came_ns;    /* when the newest wave came; 0: none has */
	uint64_t whole_ns;   /* what was before this has come */
	uint64_t settled_ns; /* and is in its order */
	int64_t read_ns;     /* when hosts were read for the newest wave */
	uint64_t lost;
	bool ended;
};

/* ---- what comes, to whom ---- */

/* Is the operation in "MPI_Send|MPI_Isend"? */
static bool is_listed(const char *ops, const char *op)
{
	size_t n = strlen(op);

	for (const char *at = ops; (at = strstr(at, op)); at += n)
		if ((at == ops || at[-1] == '|') && (!at[n] || at[n] == '|'))
			return true;
	return false;
}

/* Is it one of the part's, and of the region, if there is one? */
static bool is_meant(struct probe *p, const struct metric_part *part, const struct probe_call *call)
{
	bool completes = call->event && call->event->flags & EVSPACE_COMPLETION;

	if (call->event && completes != part->completions)
		return false;
	if (part->ops && !is_listed(part->ops, call->name))
		return false;
	if (p->n_regions == 0)
		return op_channel(call->op) != CHANNEL_USER;
	if (p->regions[0].site && !part->completions && op_channel(call->op) != CHANNEL_USER) {
		p->sited |= probe_region_site(call->element) != NULL;
		p->siteless |= !probe_region_site(call->element);
	}
	return probe_region_has(&p->regions[0], call);
}

/* Is it of one of the regions, or of all? */
static bool is_of_trace(const struct probe *p, const struct probe_call *call)
{
	if (p->n_regions == 0)
		return true;
	for (unsigned i = 0; i < p->n_regions; i++)
		if (probe_region_has(&p->regions[i], call))
			return true;
	return false;
}

/* A total of some calls. */
static void total_add(struct probe_series *s, const struct probe_call *call)
{
	const struct evspace_total *t = call->total;
	double unit = s->metric->what == METRIC_DURATION ? NS_PER_MS : 1;
	double n = (double)t->count;
	struct probe_stat stat = {n,
				  (double)t->sum / unit,
				  (double)t->min / unit,
				  (double)t->max / unit,
				  t->mean / unit,
				  t->variance * n / unit / unit};

	if (s->metric->what == METRIC_CALLS)
		stat = (struct probe_stat){n, n, 1, 1, 1, 0};
	probe_stat_merge(
		&probe_cell_of(s, op_is_labelled(call->op) ? 0 : t->comm, call->thread)->stat,
		&stat);
}

/* One call. */
static void event_add(struct probe_series *s, const struct probe_call *call)
{
	const struct evspace_event *ev = call->event;
	struct probe_cell *c = probe_cell_of(s, ev->comm, call->thread);
	double value = 1;
	struct probe_stat one;

	if (s->metric->what == METRIC_DURATION)
		value = (double)(ev->end_ns - ev->start_ns) / NS_PER_MS;
	else if (s->metric->what == METRIC_BYTES)
		value = (double)ev->bytes;
	one = probe_stat_of(value);
	probe_stat_merge(&c->stat, &one);
	if (ev->end_ns >= c->last_ns) {
		c->last_ns = ev->end_ns;
		c->last = value;
	}
}

/* The event itself, as a line. */
static void trace_take(struct probe *p, const struct probe_view *v, const struct probe_call *call)
{
	if (!is_of_trace(p, call) || !probe_concerns(p, call->event->comm, call->thread))
		return;
	if (!p->trace.lines)
		p->trace.lines = open_memstream(&p->trace.text, &p->trace.bytes);
	if (!p->trace.lines)
		abort();
	events_json.event(v->client, call->event, 0, p->trace.lines);
	p->trace.n++;
}

static void traces_send(struct probe_view *v)
{
	struct probe *p;

	TAILQ_FOREACH (p, &v->probes->list, link) {
		if (p->trace.view != v || !p->trace.lines)
			continue;
		if (fclose(p->trace.lines) != 0)
			abort();
		destination_say(p->destination, p->trace.text, p->trace.bytes,
				(unsigned)p->trace.n);
		free(p->trace.text);
		p->trace.lines = NULL;
		p->trace.n = 0;
	}
}

/* To a probe that is of it: to each series and part that has the view. */
static void call_give(struct probe *p, const struct probe_view *v, const struct probe_call *call)
{
	for (size_t i = 0; i < p->n_series * METRIC_PARTS; i++) {
		struct probe_series *s = &p->series[i / METRIC_PARTS];
		const struct metric_part *part = &s->metric->parts[i % METRIC_PARTS];

		if (s->views[i % METRIC_PARTS] != v || !is_meant(p, part, call))
			continue;
		if (probe_triggers(p, s->metric))
			probe_cells_run(p, s, call->thread);
		else if (call->total)
			total_add(s, call);
		else
			event_add(s, call);
		if (!probe_samples(p, s->metric))
			probe_is_fresh(p);
	}
}

static void record_take(struct probe_view *v, const struct evspace_total *total,
			const struct evspace_event *event)
{
	const char *element = total ? total->name : event->name, *end = strrchr(element, '/');
	struct probe_call call = {.event = event,
				  .total = total,
				  .op = total ? op_find(total->op) : event->op_number,
				  .name = total ? total->op : event->op,
				  .element = element};
	struct probe *p;

	if (op_is_labelled(call.op))
		call.label = evspace_label(v->client, total ? total->comm : event->seq_or_tag);
	call.thread = memory_copy_bytes(element, end ? (size_t)(end - element) : 0);
	TAILQ_FOREACH (p, &v->probes->list, link) {
		if (!p->active)
			continue;
		if (event && p->trace.view == v)
			trace_take(p, v, &call);
		if (p->n_regions < 2)
			call_give(p, v, &call);
		else if (event && p->n_series > 0 && p->series[0].views[0] == v)
			probe_span_take(p, &call);
	}
	free(call.thread);
}

static void loss_take(struct probe_view *v, uint64_t lost)
{
	struct probe *p;

	TAILQ_FOREACH (p, &v->probes->list, link) {
		if (p->active && p->trace.view == v)
			p->lost += lost;
		for (size_t i = 0; i < p->n_series * METRIC_PARTS; i++)
			if (p->active && p->series[i / METRIC_PARTS].views[i % METRIC_PARTS] == v)
				p->lost += lost;
	}
}

/* All that was before the wave before was read is there now: an element of a thread may have been
 * read before another one of its had what was earlier. */
static void spans_settle(struct probe_view *v, int64_t read_ns)
{
	struct probe *p;

	TAILQ_FOREACH (p, &v->probes->list, link)
		if (p->n_regions == 2 && p->active && p->n_series > 0 && p->series[0].views[0] == v)
			probe_span_settle(p, read_ns > 0 ? v->read_ns : INT64_MAX);
	v->read_ns = read_ns > 0 ? read_ns : v->read_ns;
}

static void wave_take(struct probe_view *v)
{
	int64_t read_ns = 0;
	struct evspace_total total;
	struct evspace_event event;
	struct evspace_counts counts;

	while (evspace_total(v->client, &total))
		record_take(v, &total, NULL);
	evspace_rewind(v->client);
	while (evspace_event(v->client, &event)) {
		if (event.flags & (EVSPACE_RUNNING | EVSPACE_REGION))
			continue;
		record_take(v, NULL, &event);
		read_ns = read_ns == 0 || event.read_ns < read_ns ? event.read_ns : read_ns;
	}
	spans_settle(v, read_ns);
	traces_send(v);
	evspace_counts(v->client, &counts);
	if (counts.lost > v->lost)
		loss_take(v, counts.lost - v->lost);
	v->lost = counts.lost;
	if (evspace_wave(v->client)->again)
		return;
	/* one wave is under way at a time: this one was asked for when the one before had come */
	v->settled_ns = v->whole_ns;
	v->whole_ns = v->came_ns;
	v->came_ns = clock_mono_ns();
	toll_look(v->probes->toll);
	toll_step(v->probes->toll);
}

static void on_news(struct evspace_client *client, enum evspace_news news, void *arg)
{
	struct probe_view *v = arg;

	(void)client;
	if (news == EVSPACE_ENDED)
		v->ended = true;
	else if (news == EVSPACE_WAVE)
		while (evspace_next(v->client, 0) == 1)
			wave_take(v);
}

/* ---- the views ---- */

/* All together have what was said that they may cost, each as much as the others. */
static void views_share(const struct probes *probes)
{
	const struct probe_view *v;
	unsigned n = 0;

	LIST_FOREACH (v, &probes->views, link)
		n++;
	LIST_FOREACH (v, &probes->views, link)
		client_budget_own(v->client, probes->snapshots.options->budget / n);
}

static struct probe_view *view_open(struct probes *probes, const char *define)
{
	bool calls = strcmp(define, PROBE_VIEW_CALLS) == 0;
	const struct evspace_options *said = probes->snapshots.options;
	struct evspace_options options = {.run = said->run,
					  .view = calls ? PROBE_VIEW_CALLS : NULL,
					  .define = calls ? NULL : define,
					  .rate_hz = RATE_HZ,
					  .deadline_ms = DEADLINE_MS,
					  .hurry = 1,
					  .wait = said->wait,
					  .budget = said->budget,
					  .weight = said->weight,
					  .urgency = said->urgency};
	struct probe_view *v = memory_new(1, sizeof(*v));

	v->probes = probes;
	v->define = memory_copy(define);
	if (LIST_EMPTY(&probes->views)) {
		probes->toll = toll_new(probes->snapshots.connection, options.run);
		toll_seldom(probes->toll, "mir");
	}
	v->client = evspace_open_on(probes->snapshots.connection, &options, on_news, v);
	LIST_INSERT_HEAD(&probes->views, v, link);
	views_share(probes);
	return v;
}

struct probe_view *probe_view_join(struct probes *probes, const char *define)
{
	struct probe_view *v;

	LIST_FOREACH (v, &probes->views, link)
		if (strcmp(v->define, define) == 0 && !v->ended)
			break;
	if (!v)
		v = view_open(probes, define);
	v->users++;
	return v;
}

const char *probe_view_trouble(const struct probe_view *view)
{
	if (view->ended)
		return evspace_why(view->client);
	return view->came_ns > 0 ? NULL : "nobody has answered; evspace status says more";
}

bool probe_view_is_whole(const struct probe_view *view, uint64_t since_ns, bool ordered)
{
	return view->ended || (ordered ? view->settled_ns : view->whole_ns) >= since_ns;
}

void probe_view_leave(struct probe_view *view)
{
	if (!view || --view->users > 0)
		return;
	LIST_REMOVE(view, link);
	if (LIST_EMPTY(&view->probes->views)) {
		toll_free(view->probes->toll);
		view->probes->toll = NULL;
	}
	evspace_close(view->client);
	views_share(view->probes);
	free(view->define);
	free(view);
}
