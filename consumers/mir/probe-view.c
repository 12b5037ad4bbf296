/* SPDX-License-Identifier: BSD-3-Clause */
/* Views that probes share: what waves bring goes to the probes that it is about. */
#include "consumers/mir/probe-view.h"

#include <stdlib.h>
#include <string.h>

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
	uint64_t came_ns;  /* when the newest wave came; 0: none has */
	uint64_t whole_ns; /* what was before this has come */
	uint64_t lost;
	bool ended;
};

/* ---- what comes, to whom ---- */

struct probe_cell *probe_cell_of(struct probe_series *series, uint32_t comm, const char *name)
{
	char key[1024];
	int n = snprintf(key, sizeof(key), "%08x%s", comm, name);
	size_t bytes = n < (int)sizeof(key) ? (size_t)n : sizeof(key) - 1;
	struct probe_cell *c;

	HASH_FIND(hh, series->cells, key, bytes, c);
	if (c)
		return c;
	c = memory_new(1, sizeof(*c) + bytes + 1);
	memcpy(c->key, key, bytes);
	c->comm = comm;
	c->name = c->key + 8;
	HASH_ADD_KEYPTR(hh, series->cells, c->key, bytes, c);
	return c;
}

/* Is the operation in "MPI_Send|MPI_Isend"? */
static bool is_listed(const char *ops, const char *op)
{
	size_t n = strlen(op);

	for (const char *at = ops; (at = strstr(at, op)); at += n)
		if ((at == ops || at[-1] == '|') && (!at[n] || at[n] == '|'))
			return true;
	return false;
}

static bool is_meant(const struct probe *p, const struct metric_part *part, const char *name,
		     uint16_t op)
{
	int channel = op_channel(op);

	if (p->op ? op != p->op : p->channel >= 0 ? channel != p->channel : channel == CHANNEL_USER)
		return false;
	return !part->ops || is_listed(part->ops, name);
}

/* Is it one of the region that the probe is of, if it is of one? */
static bool is_labelled(const struct probe *p, const struct probe_view *v,
			const struct evspace_event *event)
{
	const char *wanted = probe_label(p);
	const char *label = wanted && event ? evspace_label(v->client, event->seq_or_tag) : NULL;

	return !wanted || (label && strcmp(label, wanted) == 0);
}

/* A total of some calls. */
static void total_add(struct probe_series *s, const struct evspace_total *t)
{
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
	probe_stat_merge(&probe_cell_of(s, t->comm, t->name)->stat, &stat);
}

/* One call. */
static void event_add(struct probe_series *s, const struct evspace_event *ev)
{
	const char *end = strrchr(ev->name, '/');
	char *name = memory_copy_bytes(ev->name, end ? (size_t)(end - ev->name) : 0);
	struct probe_cell *c = probe_cell_of(s, ev->comm, name);
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
	free(name);
}

void probe_is_fresh(struct probe *probe)
{
	if (probe->fresh_ns == 0)
		probe->fresh_ns = clock_mono_ns();
}

/* For each series and part that has the view: a total, or else an event. */
static void record_take(struct probe_view *v, const struct evspace_total *total,
			const struct evspace_event *event)
{
	const char *name = total ? total->op : event->op;
	uint16_t op = total ? op_find(name) : event->op_number;
	struct probe *p;

	TAILQ_FOREACH (p, &v->probes->list, link) {
		for (size_t i = 0; i < p->n_series * METRIC_PARTS; i++) {
			struct probe_series *s = &p->series[i / METRIC_PARTS];
			const struct metric_part *part = &s->metric->parts[i % METRIC_PARTS];

			if (!p->active || s->views[i % METRIC_PARTS] != v ||
			    !is_meant(p, part, name, op) || !is_labelled(p, v, event) ||
			    (!total && !(event->flags & EVSPACE_COMPLETION) == part->completions))
				continue;
			if (total)
				total_add(s, total);
			else
				event_add(s, event);
			probe_is_fresh(p);
		}
	}
}

static void loss_take(struct probe_view *v, uint64_t lost)
{
	struct probe *p;

	TAILQ_FOREACH (p, &v->probes->list, link)
		for (size_t i = 0; i < p->n_series * METRIC_PARTS; i++)
			if (p->active && p->series[i / METRIC_PARTS].views[i % METRIC_PARTS] == v)
				p->lost += lost;
}

static void wave_take(struct probe_view *v)
{
	struct evspace_total total;
	struct evspace_event event;
	struct evspace_counts counts;

	while (evspace_total(v->client, &total))
		record_take(v, &total, NULL);
	evspace_rewind(v->client);
	while (evspace_event(v->client, &event))
		if (!(event.flags & (EVSPACE_RUNNING | EVSPACE_REGION)))
			record_take(v, NULL, &event);
	evspace_counts(v->client, &counts);
	if (counts.lost > v->lost)
		loss_take(v, counts.lost - v->lost);
	v->lost = counts.lost;
	if (evspace_wave(v->client)->again)
		return;
	/* one wave is under way at a time: this one was asked for when the one before had come */
	v->whole_ns = v->came_ns;
	v->came_ns = clock_mono_ns();
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

static struct probe_view *view_open(struct probes *probes, const char *define)
{
	bool calls = strcmp(define, PROBE_VIEW_CALLS) == 0;
	struct evspace_options options = {.run = probes->snapshots.options->run,
					  .view = calls ? PROBE_VIEW_CALLS : NULL,
					  .define = calls ? NULL : define,
					  .rate_hz = RATE_HZ,
					  .deadline_ms = DEADLINE_MS,
					  .hurry = 1,
					  .wait = probes->snapshots.options->wait};
	struct probe_view *v = memory_new(1, sizeof(*v));

	v->probes = probes;
	v->define = memory_copy(define);
	v->client = evspace_open_on(probes->snapshots.connection, &options, on_news, v);
	LIST_INSERT_HEAD(&probes->views, v, link);
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

bool probe_view_is_whole(const struct probe_view *view, uint64_t since_ns)
{
	return view->ended || view->whole_ns >= since_ns;
}

void probe_view_leave(struct probe_view *view)
{
	if (!view || --view->users > 0)
		return;
	LIST_REMOVE(view, link);
	evspace_close(view->client);
	free(view->define);
	free(view);
}
