/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds who waits for whom in a meeting. */
#include "consumers/analysis/wait.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/analysis/overlap.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

const char *wait_name(enum wait_kind kind)
{
	static const char *const names[WAIT_KINDS] = {
		[WAIT_NONE] = "",
		[WAIT_BARRIER] = "Wait at Barrier",
		[WAIT_NXN] = "Wait at NxN",
		[WAIT_BROADCAST] = "Late Broadcast",
		[WAIT_REDUCE] = "Early Reduce",
		[WAIT_SCAN] = "Early Scan",
	};

	return names[kind];
}

/* Nonblocking and persistent ones begin here, and wait elsewhere. */
enum wait_kind wait_kind(uint16_t op, bool has_root)
{
	static const struct {
		const char *name;
		enum wait_kind kind;
		bool rooted;
	} rows[] = {
		{"MPI_Barrier", WAIT_BARRIER, false},	{"pvm_barrier", WAIT_BARRIER, false},
		{"MPI_Bcast", WAIT_BROADCAST, true},	{"MPI_Scatter", WAIT_BROADCAST, true},
		{"MPI_Scatterv", WAIT_BROADCAST, true}, {"pvm_scatter", WAIT_BROADCAST, true},
		{"MPI_Reduce", WAIT_REDUCE, true},	{"MPI_Gather", WAIT_REDUCE, true},
		{"MPI_Gatherv", WAIT_REDUCE, true},	{"pvm_reduce", WAIT_REDUCE, true},
		{"pvm_gather", WAIT_REDUCE, true},	{"MPI_Scan", WAIT_SCAN, false},
		{"MPI_Exscan", WAIT_SCAN, false},
	};
	const char *name = op_name(op);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(name, rows[i].name) == 0)
			return rows[i].rooted && !has_root ? WAIT_NONE : rows[i].kind;
	}
	return op_synchronizes(op) ? WAIT_NXN : WAIT_NONE;
}

/* ---- what clocks may be off ---- */

/* The arrival whose error is largest, of those on another host than @but (NULL: of all); NULL:
 * there is none. */
static const struct arrival *most_off(const struct meeting *m, const struct arrival *but)
{
	const struct arrival *most = NULL;

	for (size_t i = 0; i < m->n; i++) {
		const struct arrival *a = &m->arrivals[i];

		if ((!but || a->host != but->host) && (!most || a->error_ns > most->error_ns))
			most = a;
	}
	return most;
}

/* ---- lateness ---- */

/* By the median of the others, which lie by their start as all do. */
static double late_ns(const struct meeting *m, size_t i)
{
	size_t others = m->n - 1, low = (others - 1) / 2, high = others / 2;
	int64_t start = m->arrivals[i].start_ns;

	low += low >= i;
	high += high >= i;
	return (double)(start - m->arrivals[low].start_ns) / 2 +
	       (double)(start - m->arrivals[high].start_ns) / 2;
}

static void late_all(const struct meeting *m, struct wait *w)
{
	const struct arrival *most = most_off(m, NULL), *next = most_off(m, most);

	for (size_t i = 0; i < m->n && m->n > 1; i++) {
		const struct arrival *a = &m->arrivals[i];
		const struct arrival *other = a->host == most->host ? next : most;

		w[i].late_ns = late_ns(m, i);
		w[i].error_ns = other ? arrival_bound(a, other) : 0;
	}
}

/* ---- waiting ---- */

static bool is_awaited(const struct meeting *m, enum wait_kind kind, const struct arrival *a)
{
	bool root = a->place == m->key.root;

	return kind == WAIT_BROADCAST ? root
	       : kind == WAIT_REDUCE  ? !root
	       : kind == WAIT_SCAN    ? a->place >= 0 && (size_t)a->place < m->n
				      : kind != WAIT_NONE;
}

/* The last one before @end that is awaited. */
static size_t last_awaited(const struct wait *w, size_t end)
{
	while (end > 0 && !w[end - 1].awaited)
		end--;
	return end > 0 ? end - 1 : WAIT_NOBODY;
}

static size_t late_find(const struct meeting *m, const struct wait *w)
{
	size_t last = last_awaited(w, m->n), before;

	if (last == WAIT_NOBODY)
		return last;
	before = last_awaited(w, last);
	if (before == WAIT_NOBODY)
		return w[last].late_ns > w[last].error_ns ? last : WAIT_NOBODY;
	return (double)(m->arrivals[last].start_ns - m->arrivals[before].start_ns) >
			       arrival_bound(&m->arrivals[last], &m->arrivals[before])
		       ? last
		       : WAIT_NOBODY;
}

/* All wait for the last one that is awaited, but in a reduction the root alone. */
static void causes_all(const struct meeting *m, enum wait_kind kind, struct wait *w)
{
	size_t last = last_awaited(w, m->n);

	for (size_t i = 0; i < m->n; i++) {
		if (kind != WAIT_REDUCE || !w[i].awaited)
			w[i].cause = last;
	}
}

/* Each waits for the last one of those with a lower place. */
static void causes_scan(const struct meeting *m, struct wait *w)
{
	size_t *by_place = memory_new(m->n, sizeof(*by_place)), last = WAIT_NOBODY;

	for (size_t i = 0; i < m->n; i++) {
		if (w[i].awaited)
			by_place[m->arrivals[i].place] = i + 1;
	}
	for (size_t place = 0; place < m->n; place++) {
		size_t i = by_place[place] - 1;

		if (i == WAIT_NOBODY)
			continue;
		w[i].cause = last;
		if (last == WAIT_NOBODY || i > last)
			last = i;
	}
	free(by_place);
}

/* Member @i has waited from its start to that of its cause, but not beyond its end. */
static void wait_for_cause(const struct meeting *m, size_t i, struct wait *w)
{
	const struct arrival *a = &m->arrivals[i], *b;
	int64_t until;
	double ns, off;

	if (w->cause == WAIT_NOBODY || w->cause == i) {
		w->cause = WAIT_NOBODY;
		return;
	}
	b = &m->arrivals[w->cause];
	until = b->start_ns < a->end_ns ? b->start_ns : a->end_ns;
	ns = (double)(until - a->start_ns);
	off = arrival_bound(a, b);
	w->untold = ns <= off && ns > -off;
	if (ns > off)
		w->ns = ns;
	else
		w->cause = WAIT_NOBODY;
}

struct meeting_waits wait_find(const struct meeting *m, struct wait *w)
{
	const struct arrival *first = m->arrivals, *last = &m->arrivals[m->n - 1];
	struct meeting_waits all = {
		.kind = m->mixed ? WAIT_NONE : wait_kind(m->op, m->key.root >= 0),
		.spread_ns = (double)(last->start_ns - first->start_ns),
		.error_ns = arrival_bound(first, last),
	};
	int64_t end = last->start_ns;

	for (size_t i = 0; i < m->n; i++)
		w[i] = (struct wait){.cause = WAIT_NOBODY,
				     .awaited = is_awaited(m, all.kind, &m->arrivals[i])};
	late_all(m, w);
	if (all.kind == WAIT_SCAN)
		causes_scan(m, w);
	else
		causes_all(m, all.kind, w);
	for (size_t i = 0; i < m->n; i++) {
		wait_for_cause(m, i, &w[i]);
		all.waited_ns += w[i].ns;
		all.untold += w[i].untold;
		if (w[i].cause != WAIT_NOBODY)
			w[w[i].cause].caused_ns += w[i].ns;
		end = m->arrivals[i].end_ns > end ? m->arrivals[i].end_ns : end;
	}
	all.late = late_find(m, w);
	all.inside_ns = (double)(end - last->start_ns);
	return all;
}

void wait_once(const struct meeting *m, struct wait *w, struct meeting_waits *all,
	       struct overlaps *counted)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct arrival *a = &m->arrivals[i];
		const int64_t ns = (int64_t)w[i].ns;
		double again = (double)(ns - overlaps_add(counted, a->process, a->start_ns,
							  a->start_ns + ns));

		if (w[i].cause == WAIT_NOBODY || again <= 0)
			continue;
		w[i].ns -= again;
		w[w[i].cause].caused_ns -= again;
		all->waited_ns -= again;
	}
}

/* ---- of sums ---- */

/* Did all wait until the last one started, as far as clocks can tell? Without data, or with clocks
 * that are wrong, some may have left before. */
static bool all_waited(const struct meeting_sum *sum, enum wait_kind kind)
{
	const struct meet *m = &sum->meet;

	return kind != WAIT_NONE &&
	       (m->end >= m->last || (double)(m->last - m->end) <= meeting_sum_bound(sum));
}

struct meeting_waits wait_find_summed(const struct meeting_sum *sum, struct wait *w)
{
	const struct meet *m = &sum->meet;
	const double off = meeting_sum_bound(sum), others = m->count - 1.0;
	struct meeting_waits all = {
		.kind = m->flags & MEET_MIXED ? WAIT_NONE : wait_kind(m->op, sum->root >= 0),
		.spread_ns = (double)(m->last - m->start),
		.error_ns = off,
		.late = WAIT_NOBODY,
		.inside_ns = (double)(m->last_end - m->last),
	};

	if (all.kind == WAIT_REDUCE || all.kind == WAIT_SCAN ||
	    (all.kind == WAIT_BROADCAST && sum->place != sum->root))
		all.kind = WAIT_NONE;
	*w = (struct wait){.cause = WAIT_NOBODY, .error_ns = off};
	if (m->count < 2 || !all_waited(sum, all.kind))
		return all;
	w->awaited = true;
	w->late_ns = (double)m->waited / others;
	if ((all.kind == WAIT_BROADCAST ? w->late_ns : (double)(m->last - m->before)) > off)
		all.late = 0;
	if ((double)m->waited > others * off)
		w->caused_ns = all.waited_ns = (double)m->waited;
	else
		all.untold = m->count - 1;
	return all;
}
