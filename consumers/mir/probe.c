/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes: they begin, change and end. */
#include "consumers/mir/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/probe-archive.h"
#include "consumers/mir/probe-cell.h"
#include "consumers/mir/probe-change.h"
#include "consumers/mir/probe-define.h"
#include "consumers/mir/probe-function.h"
#include "consumers/mir/probe-span.h"
#include "consumers/mir/probe-view.h"
#include "consumers/mir/sources.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

struct probe *probe_find(struct probes *probes, const char *id)
{
	struct probe *p;

	TAILQ_FOREACH (p, &probes->list, link)
		if (strcmp(p->id, id) == 0)
			return p;
	return NULL;
}

/* ---- what is measured ---- */

static void series_forget(struct probe_series *s)
{
	struct probe_cell *c, *next;

	for (c = s->cells; c; c = next) {
		next = c->hh.next;
		HASH_DEL(s->cells, c);
		free(c);
	}
	probe_sum_fini(&s->samples);
}

/* What it has measured so far goes on from here. */
static void series_base(struct probe_series *s, const struct usages *usages)
{
	for (size_t i = 0; i < usages->n; i++) {
		const struct mir_usage *u = &usages->items[i];
		struct probe_cell *c;

		if (u->of_thread == metric_is_of_processes(s->metric))
			continue;
		c = probe_cell_of(s, 0, u->name);
		c->base = u->figures[s->metric->what] - c->stat.sum;
	}
}

static void probe_base(struct probe *p, const struct usages *usages)
{
	for (size_t i = 0; i < p->n_series; i++)
		if (metric_is_used(p->series[i].metric) && metric_grows(p->series[i].metric))
			series_base(&p->series[i], usages);
}

static uint64_t due_after(uint64_t ms)
{
	return ms > 0 ? clock_mono_ns() + ms * 1000000 : 0;
}

/* What has no interval is measured once, from now on. */
static void probe_sample_next(struct probe *p)
{
	const struct mir_measuring *m = &p->defined->measuring;

	p->within_ns = 0;
	p->sample_ns = m->interval > 0	 ? due_after(m->interval)
		       : m->duration > 0 ? clock_mono_ns()
					 : 0;
}

void probe_reset(struct probe *probe, const struct usages *usages)
{
	for (size_t i = 0; i < probe->n_series; i++)
		series_forget(&probe->series[i]);
	probe_span_forget(probe);
	series_forget(&probe->opened);
	if (usages)
		probe_base(probe, usages);
	probe->lost = 0;
	probe->fresh_ns = 0;
	probe->measured = probe->active && !probe_is_sampled(probe);
	if (probe->active)
		probe_sample_next(probe);
}

void probe_series_free(struct probe_series *series, size_t n)
{
	for (size_t i = 0; i < n; i++)
		series_forget(&series[i]);
	free(series);
}

void probe_series_make(struct probe *p)
{
	probe_reset(p, NULL);
	free(p->series);
	p->n_series = p->defined->n_metrics;
	p->series = memory_new(p->n_series, sizeof(*p->series));
	for (size_t i = 0; i < p->n_series; i++)
		p->series[i].metric = metric_find(p->defined->metrics[i].text);
}

/* ---- when ---- */

/* The view that has what a part of a metric needs, which all probes share: totals by operation, of
 * call sites and names of regions, too; or single calls, where the last one counts, or what is
 * between two of them. A consumer has few views of its own, and `events` is none of them. */
static void definition_write(char *text, size_t room, const struct probe *p, const struct metric *m,
			     const struct metric_part *part)
{
	if (!probe_is_of_calls(p, m))
		snprintf(text, room,
			 "read stream; element filter channel%s=completion; element reduce sum of "
			 "%s by op by comm by label",
			 part->completions ? "" : "!",
			 m->what == METRIC_BYTES ? "bytes" : "duration");
	else
		snprintf(text, room, "%s",
			 probe_is_of_program(p) ? PROBE_VIEW_USER : PROBE_VIEW_CALLS);
}

/* What it measures a part by; NULL: nothing. */
static struct probe_view **view_at(const struct probe *p, size_t i)
{
	return &p->series[i / METRIC_PARTS].views[i % METRIC_PARTS];
}

static void views_leave(struct probe *p)
{
	for (size_t i = 0; i < p->n_series * METRIC_PARTS; i++) {
		probe_view_leave(*view_at(p, i));
		*view_at(p, i) = NULL;
	}
	probe_view_leave(p->trace.view);
	p->trace.view = NULL;
	archiver_end(p->trace.archiver);
	p->trace.archiver = NULL;
}

static bool is_archived(const struct probe *p)
{
	return p->defined->events && destination_is_archive(p->defined->measuring.destination);
}

static void trace_begin(struct probes *probes, struct probe *p)
{
	if (is_archived(p))
		probe_archive_begin(probes, p);
	else if (p->defined->events)
		p->trace.view = probe_view_join(probes, probe_is_of_program(p) ? PROBE_VIEW_USER
									       : PROBE_VIEW_CALLS);
}

static const char *trace_trouble(const struct probe *p)
{
	if (!is_archived(p))
		return p->trace.view ? probe_view_trouble(p->trace.view) : NULL;
	if (!p->trace.archiver)
		return strerror(p->trace.why);
	return archiver_has_begun(p->trace.archiver) ? archiver_why(p->trace.archiver)
						     : "evspace archive has not begun";
}

void probe_begin(struct probes *probes, struct probe *probe, unsigned errand)
{
	char define[1024];

	if (probe->active || probe->begins_ns > 0)
		return;
	for (size_t i = 0; i < probe->n_series * METRIC_PARTS; i++) {
		const struct metric *m = probe->series[i / METRIC_PARTS].metric;

		if (i % METRIC_PARTS >= (probe_triggers(probe, m) ? 1 : m->n_parts))
			continue;
		definition_write(define, sizeof(define), probe, m, &m->parts[i % METRIC_PARTS]);
		*view_at(probe, i) = probe_view_join(probes, define);
	}
	trace_begin(probes, probe);
	probe_function_begin(probes, probe);
	probe->begins_ns = clock_mono_ns();
	probe->errand = errand;
	probe->again_ns = 0;
	free(probe->why);
	probe->why = NULL;
}

bool probe_is_whole(const struct probe *probe, uint64_t since_ns)
{
	for (size_t i = 0; i < probe->n_series * METRIC_PARTS; i++)
		if (*view_at(probe, i) &&
		    !probe_view_is_whole(*view_at(probe, i), since_ns,
					 probe->active && probe->n_regions == 2))
			return false;
	if (probe->trace.archiver && !archiver_has_begun(probe->trace.archiver))
		return false;
	return !probe->trace.view || probe_view_is_whole(probe->trace.view, since_ns, false);
}

static const char *views_trouble(const struct probe *p)
{
	const char *why = trace_trouble(p);

	for (size_t i = 0; i < p->n_series * METRIC_PARTS && !why; i++)
		why = *view_at(p, i) ? probe_view_trouble(*view_at(p, i)) : NULL;
	return why;
}

static void probe_settle(struct probes *probes, struct probe *p, const struct usages *usages)
{
	const struct mir_measuring *m = &p->defined->measuring;
	const char *why = views_trouble(p);

	if (!why && probe_uses(p))
		why = usages ? usages->why : "agents have not answered; evspace status says more";
	for (size_t i = 0; i < p->n_series && usages && !why; i++)
		why = usages_uncounted(usages, p->series[i].metric);
	why = why ? why : p->function.why;
	if (!why && !probe_function_is_settled(p))
		why = "agents have not answered; evspace status says more";
	p->why = memory_copy(why);
	if (p->why)
		probe_function_end(probes, p);
	p->begins_ns = 0;
	if (p->why) {
		views_leave(p);
		/* nobody has asked for it just now, who could be told */
		if (p->errand == 0)
			p->again_ns = clock_mono_ns() + PROBE_PATIENCE_NS;
		return;
	}
	if (usages)
		probe_base(p, usages);
	p->active = true;
	p->measured |= !probe_is_sampled(p);
	probe_sample_next(p);
	p->deliver_ns = due_after(m->delivery > 0 ? (uint64_t)m->delivery : 0);
}

bool probes_settle(struct probes *probes)
{
	uint64_t now = clock_mono_ns();
	bool others = false;
	struct probe *p;

	TAILQ_FOREACH (p, &probes->list, link) {
		const struct usages *usages;
		bool whole;

		if (p->again_ns > 0 && now >= p->again_ns)
			probe_begin(probes, p, 0);
		if (p->begins_ns == 0)
			continue;
		usages = probe_uses(p) ? probes_usages(probes, p->begins_ns) : NULL;
		whole = probe_is_whole(p, p->begins_ns) && (usages || !probe_uses(p)) &&
			probe_function_is_settled(p);
		if (whole || now >= p->begins_ns + PROBE_PATIENCE_NS)
			probe_settle(probes, p, usages);
		others |= p->begins_ns > 0;
	}
	return others;
}

void probe_end(struct probes *probes, struct probe *probe)
{
	probe_function_end(probes, probe);
	views_leave(probe);
	probe->active = false;
	probe->begins_ns = probe->again_ns = probe->sample_ns = probe->deliver_ns = 0;
}

/* ---- definition ---- */

static void destination_settle(struct probes *probes, struct probe *p, struct mir_request *request)
{
	const struct mir_measuring *m = &p->defined->measuring;

	if (m->destination && request->n_faults == 0)
		p->destination = destination_join(&probes->destinations, m->destination, p->owner,
						  &m->place, request);
}

static unsigned probes_of(const struct probes *probes, const struct probe_owner *owner)
{
	const struct probe *p;
	unsigned n = 0;

	TAILQ_FOREACH (p, &probes->list, link)
		n += p->owner == owner;
	return n;
}

struct probe *probe_new(struct probes *probes, struct probe_owner *owner,
			struct mir_request *request)
{
	unsigned mine = probes_of(probes, owner);
	struct probe *p;

	if (mine >= PROBES_MAX - probes->n) {
		request_complain(request, &request->place,
				 "there are %u probes, and %u of them are yours: no tool has more "
				 "than what it leaves for others; remove some",
				 probes->n, mine);
		return NULL;
	}
	p = memory_new(1, sizeof(*p));
	p->owner = owner;
	p->defined = memory_new(1, sizeof(*p->defined));
	p->defined->place = request->place;
	p->defined->events = request->events;
	p->defined->from = request->from;
	p->defined->to = request->to;
	request->from.text = request->to.text = NULL;
	measuring_settle(&p->defined->measuring, &owner->defaults);
	measuring_settle(&p->defined->measuring, &request->measuring);
	request_settle(p->defined, request);
	definition_add(owner, p->defined);
	probe_check(p, request);
	destination_settle(probes, p, request);
	p->wanted = request->activated;
	TAILQ_INSERT_TAIL(&probes->list, p, link);
	probes->n++;
	if (request->n_faults > 0) {
		probe_free(probes, p);
		return NULL;
	}
	snprintf(p->id, sizeof(p->id), "p%u", ++probes->named);
	probe_series_make(p);
	return p;
}

void probe_restore(struct probes *probes, struct probe *probe, unsigned number, bool flushed)
{
	snprintf(probe->id, sizeof(probe->id), "p%u", number);
	if (number > probes->named)
		probes->named = number;
	probe->flushed = flushed;
	if (flushed && probe->wanted)
		probe->again_ns = clock_mono_ns();
}

void probe_free(struct probes *probes, struct probe *probe)
{
	probe_change_free(probe);
	probe_end(probes, probe);
	probe_reset(probe, NULL);
	free(probe->series);
	free(probe->why);
	definition_free(probe->owner, probe->defined);
	destination_leave(probe->destination);
	TAILQ_REMOVE(&probes->list, probe, link);
	probes->n--;
	probes->changes++;
	free(probe);
}
