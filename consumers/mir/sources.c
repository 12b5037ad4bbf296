/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots and accounts of the kernel, asked for when probes and requests need them. */
#include "consumers/mir/sources.h"

#include <string.h>

#include "consumers/mir/probe-cell.h"
#include "tree/data/clock.h"

/* The counters that its metrics need, as bits. */
static uint32_t probe_counters(const struct probe *p)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < p->n_series && (p->active || p->begins_ns > 0); i++)
		if (metric_is_counted(p->series[i].metric))
			bits |= UINT32_C(1) << (p->series[i].metric->what - METRIC_CYCLES);
	return bits;
}

static void counters_settle(struct probes *probes)
{
	const struct probe *p;

	probes->usages.counters = 0;
	TAILQ_FOREACH (p, &probes->list, link)
		probes->usages.counters |= probe_counters(p);
}

const struct usages *probes_usages(struct probes *probes, uint64_t since_ns)
{
	counters_settle(probes);
	return usages_since(&probes->usages, probes->snapshots.connection,
			    probes->snapshots.options->run, since_ns);
}

void probes_count(struct probes *probes)
{
	counters_settle(probes);
	if (probes->usages.counters)
		(void)probes_usages(probes, clock_mono_ns() - PROBES_COUNT_NS);
}

bool sources_since(struct probes *probes, const struct sources_need *need, uint64_t since_ns,
		   struct sources *sources)
{
	*sources = (struct sources){NULL, NULL};
	if (need->snapshot)
		sources->snapshot = snapshots_since(&probes->snapshots, since_ns, need->depth);
	if (need->usages)
		sources->usages = probes_usages(probes, since_ns);
	return (!need->snapshot || sources->snapshot) && (!need->usages || sources->usages);
}

const char *sources_trouble(const struct sources *sources)
{
	if (sources->snapshot && sources->snapshot->why)
		return sources->snapshot->why;
	return sources->usages ? sources->usages->why : NULL;
}

/* Is the thread one of that process? */
static bool is_of(const char *thread, const char *process)
{
	size_t n = strlen(process);

	return strncmp(thread, process, n) == 0 && thread[n] == '/';
}

static bool is_thread(const char *name)
{
	unsigned n = 0;

	for (; *name; name++)
		n += *name == '/';
	return n == 4;
}

static void cell_know(struct probe_series *s, uint32_t comm, const char *name)
{
	struct probe_cell *c = probe_cell_of(s, comm, name);

	if (s->metric->what == METRIC_THREADS)
		c->stat = probe_stat_of(1);
}

/* Each thread has a cell, and each on each communicator of its process. */
static void series_know(struct probe_series *s, const struct snapshot *snapshot)
{
	size_t at = 0;

	for (size_t i = 0; i < snapshot->n_threads; i++)
		if (is_thread(snapshot->threads[i].name))
			cell_know(s, 0, snapshot->threads[i].name);
	/* both are in the order of names, members for each communicator */
	for (size_t i = 0; i < snapshot->n_members; i++) {
		const struct mir_member *m = &snapshot->members[i];

		if (i > 0 && m[-1].comm != m->comm)
			at = 0;
		while (at < snapshot->n_threads && !is_of(snapshot->threads[at].name, m->process))
			at++;
		for (; at < snapshot->n_threads && is_of(snapshot->threads[at].name, m->process);
		     at++)
			cell_know(s, m->comm, snapshot->threads[at].name);
	}
}

/* What has grown by less than nothing is of another thread that has got the name. */
static void series_use(struct probe_series *s, const struct usages *usages)
{
	for (size_t i = 0; i < usages->n; i++) {
		const struct mir_usage *u = &usages->items[i];
		double figure = u->figures[s->metric->what];
		struct probe_cell *c;

		if (u->of_thread == metric_is_of_processes(s->metric))
			continue;
		c = probe_cell_of(s, 0, u->name);
		/* a counter of an agent that has begun anew; 0 may be none */
		if (metric_is_counted(s->metric) && figure > 0 &&
		    figure < (c->base + c->stat.sum) / 2)
			c->base = -c->stat.sum;
		if (!metric_grows(s->metric))
			c->stat = probe_stat_of(figure);
		else if (figure - c->base > c->stat.sum)
			c->stat = probe_stat_of(figure - c->base);
	}
}

void sources_know(const struct sources *sources, struct probe_series *series)
{
	if (metric_is_used(series->metric) && sources->usages)
		series_use(series, sources->usages);
	else if (!metric_is_used(series->metric) && sources->snapshot)
		series_know(series, sources->snapshot);
}
