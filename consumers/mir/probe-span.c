/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends, in the order of their times, as elements of a thread are read one by one. */
#include "consumers/mir/probe-span.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/mir/probe-define.h"
#include "consumers/mir/probe-cell.h"
#include "pathmap/base/memory.h"

/* Most that wait for what was before them. */
#define MOMENTS_MAX 100000u

#define NS_PER_MS 1e6

static void moment_add(struct probe *p, const char *thread, int64_t ns, bool begins)
{
	if (p->n_moments >= MOMENTS_MAX) {
		p->lost++;
		return;
	}
	p->moments = memory_room(p->moments, p->n_moments, sizeof(*p->moments));
	p->moments[p->n_moments++] =
		(struct probe_moment){.ns = ns, .begins = begins, .thread = memory_copy(thread)};
}

void probe_span_take(struct probe *probe, const struct probe_call *call)
{
	if (call->event->flags & EVSPACE_COMPLETION)
		return;
	if (probe_region_has(&probe->regions[0], call))
		moment_add(probe, call->thread, call->event->start_ns, true);
	if (probe_region_has(&probe->regions[1], call))
		moment_add(probe, call->thread, call->event->end_ns, false);
}

/* ---- in their order ---- */

static int moments_compare(const void *a, const void *b)
{
	const struct probe_moment *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	/* what ends when the next one begins was before it */
	return x->begins - y->begins;
}

static void span_add(struct probe *p, const char *thread, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = 0; i < p->n_series; i++) {
		struct probe_series *s = &p->series[i];
		struct probe_cell *c;
		struct probe_stat one;

		if (probe_triggers(p, s->metric)) {
			probe_cells_run(p, s, thread);
			continue;
		}
		c = probe_cell_of(s, 0, thread);
		c->last = s->metric->what == METRIC_DURATION ? (double)(to_ns - from_ns) / NS_PER_MS
							     : 1;
		c->last_ns = to_ns;
		one = probe_stat_of(c->last);
		probe_stat_merge(&c->stat, &one);
		if (!probe_samples(p, s->metric))
			probe_is_fresh(p);
	}
}

void probe_span_settle(struct probe *probe, int64_t until_ns)
{
	size_t n = 0;

	if (probe->n_moments > 0)
		qsort(probe->moments, probe->n_moments, sizeof(*probe->moments), moments_compare);
	for (; n < probe->n_moments && probe->moments[n].ns <= until_ns; n++) {
		struct probe_moment *m = &probe->moments[n];
		struct probe_cell *c = probe_cell_of(&probe->opened, 0, m->thread);

		if (!m->begins && c->opened_ns > 0)
			span_add(probe, m->thread, c->opened_ns, m->ns);
		c->opened_ns = m->begins ? m->ns : 0;
		free(m->thread);
	}
	probe->n_moments -= n;
	if (n > 0)
		memmove(probe->moments, probe->moments + n,
			probe->n_moments * sizeof(*probe->moments));
}

void probe_span_forget(struct probe *probe)
{
	for (size_t i = 0; i < probe->n_moments; i++)
		free(probe->moments[i].thread);
	free(probe->moments);
	probe->moments = NULL;
	probe->n_moments = 0;
}
