/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps which times of each process were counted, as spans that do not touch. */
#include "consumers/analysis/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

/* Each process may have so many in any case; of processes beyond these all time counts. */
#define SPANS_LEAST    64u
#define PROCESSES_MOST (1u << 22)

struct time_span {
	int64_t from_ns, to_ns;
};

struct overlaps_process {
	struct time_span *spans; /* by their time */
	size_t n;
};

struct overlaps {
	size_t most;
	struct overlaps_process *processes;
	size_t n;
};

struct overlaps *overlaps_new(size_t most)
{
	struct overlaps *o = memory_new(1, sizeof(*o));

	o->most = most;
	return o;
}

void overlaps_free(struct overlaps *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		free(o->processes[i].spans);
	free(o->processes);
	free(o);
}

/* The index of the first span that ends at @ns or later. */
static size_t span_at(const struct overlaps_process *p, int64_t ns)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->spans[middle].to_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Put @span in the place of those from @at to before @end. */
static void spans_replace(struct overlaps_process *p, size_t at, size_t end, struct time_span span)
{
	if (at == end)
		p->spans = memory_room(p->spans, p->n, sizeof(*p->spans));
	memmove(&p->spans[at + 1], &p->spans[end], (p->n - end) * sizeof(*p->spans));
	p->spans[at] = span;
	p->n = p->n + 1 - (end - at);
}

/* Forget the older half, if there are too many. */
static void spans_forget(const struct overlaps *o, struct overlaps_process *p)
{
	size_t each = o->most / o->n, half = p->n / 2;

	if (p->n < (each > SPANS_LEAST ? each : SPANS_LEAST))
		return;
	memmove(p->spans, &p->spans[half], (p->n - half) * sizeof(*p->spans));
	p->n -= half;
}

int64_t overlaps_add(struct overlaps *o, uint32_t process, int64_t from_ns, int64_t to_ns)
{
	struct time_span all = {from_ns, to_ns};
	struct overlaps_process *p;
	int64_t fresh;
	size_t at, end;

	if (to_ns <= from_ns)
		return 0;
	fresh = to_ns - from_ns;
	if (process >= PROCESSES_MOST)
		return fresh;
	while (o->n <= process) {
		o->processes = memory_room(o->processes, o->n, sizeof(*o->processes));
		o->processes[o->n++] = (struct overlaps_process){0};
	}
	p = &o->processes[process];
	at = span_at(p, from_ns);
	for (end = at; end < p->n && p->spans[end].from_ns <= to_ns; end++) {
		const struct time_span *s = &p->spans[end];

		fresh -= (s->to_ns < to_ns ? s->to_ns : to_ns) -
			 (s->from_ns > from_ns ? s->from_ns : from_ns);
		all.from_ns = s->from_ns < all.from_ns ? s->from_ns : all.from_ns;
		all.to_ns = s->to_ns > all.to_ns ? s->to_ns : all.to_ns;
	}
	spans_replace(p, at, end, all);
	spans_forget(o, p);
	return fresh;
}
