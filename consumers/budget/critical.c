/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins events of ranks to collectives, and sums up what the last ones' collectors took. */
#include "consumers/budget/critical.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

/* Batches of an interval, and Student's quantile for so many that holds 95 %. */
#define BATCHES	 CRITICAL_LEAST
#define QUANTILE 2.093

/* A rank enters a collective. */
struct comer {
	int64_t at_ns, before_ns; /* before: it entered the one before */
	double error_ns;
	double cost_ns; /* its collector's time between */
	uint32_t number, before, host;
};

/* A collective: its ranks' collectors' time since the one before. */
enum which { LAST, LEAST, MOST, WHICH };

struct joined {
	double of[WHICH]; /* of the last rank, and of those that may be it */
	double all;	  /* of all ranks */
	double ns;	  /* that passed, on the last rank */
};

/* ---- events to arrivals ---- */

static int by_rank(const void *a, const void *b)
{
	const struct critical_event *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_number(const void *a, const void *b)
{
	const struct comer *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int by_begin(const void *a, const void *b)
{
	const struct critical_hole *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Put them in order, and those that overlap together. Returns how many there are then. */
static size_t holes_join(struct critical_hole *holes, size_t n)
{
	size_t joined = 0;

	if (n > 0)
		qsort(holes, n, sizeof(*holes), by_begin);
	for (size_t i = 0; i < n; i++)
		if (joined == 0 || holes[i].from_ns > holes[joined - 1].to_ns)
			holes[joined++] = holes[i];
		else if (holes[i].to_ns > holes[joined - 1].to_ns)
			holes[joined - 1].to_ns = holes[i].to_ns;
	return joined;
}

/* Of joined holes, only the last one that begins before it comes can be in its way. */
static bool is_whole(const struct comer *a, const struct critical_hole *holes, size_t n)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (holes[middle].from_ns < a->at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 || holes[low - 1].to_ns <= a->before_ns;
}

/* Of events in order. Returns how many there are in @arrivals, which has room for @n. */
static size_t arrivals_of(const struct critical_event *events, size_t n, struct comer *arrivals)
{
	const struct critical_event *before = NULL;
	double cost = 0;
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct critical_event *e = &events[i];

		if (before && before->rank != e->rank)
			before = NULL;
		if (e->collective && before)
			arrivals[found++] = (struct comer){
				.at_ns = e->start_ns,
				.before_ns = before->start_ns,
				.error_ns = e->error_ns,
				.cost_ns = cost,
				.number = e->number,
				.before = before->number,
				.host = e->host,
			};
		if (e->collective) {
			before = e;
			cost = 0;
		}
		cost += e->cost_ns;
	}
	return found;
}

/* ---- arrivals to a collective ---- */

/* The last arrival on each host can have been the last of all, if clocks allow it. */
struct lasts {
	const struct comer **of; /* by host; NULL: none */
	uint32_t hosts;		 /* that may have some */
};

static void lasts_find(struct lasts *l, const struct comer *a, size_t n)
{
	for (uint32_t i = 0; i < l->hosts; i++)
		l->of[i] = NULL;
	for (size_t i = 0; i < n; i++)
		if (!l->of[a[i].host] || a[i].at_ns > l->of[a[i].host]->at_ns)
			l->of[a[i].host] = &a[i];
}

/* Returns how many hosts may have had the last one. */
static unsigned join(struct lasts *l, const struct comer *a, size_t n, struct joined *j)
{
	const struct comer *last = a;
	double sure_ns = -INFINITY;
	unsigned may = 0;

	*j = (struct joined){.of[LEAST] = INFINITY};
	lasts_find(l, a, n);
	for (size_t i = 0; i < n; i++) {
		j->all += a[i].cost_ns;
		if (a[i].at_ns > last->at_ns)
			last = &a[i];
		sure_ns = fmax(sure_ns, (double)(a[i].at_ns - a->at_ns) - a[i].error_ns);
	}
	j->of[LAST] = last->cost_ns;
	j->ns = (double)(last->at_ns - last->before_ns);
	for (uint32_t i = 0; i < l->hosts; i++) {
		const struct comer *of = l->of[i];

		if (!of || (double)(of->at_ns - a->at_ns) + of->error_ns < sure_ns)
			continue;
		may++;
		j->of[LEAST] = fmin(j->of[LEAST], of->cost_ns);
		j->of[MOST] = fmax(j->of[MOST], of->cost_ns);
	}
	return may;
}

/* ---- the interval ---- */

/* Half of the interval of a share. */
static double half_of(const struct joined *j, size_t n, enum which which, double share, double all)
{
	double squares = 0;

	for (size_t b = 0; b < BATCHES; b++) {
		double off = 0;

		for (size_t i = n * b / BATCHES; i < n * (b + 1) / BATCHES; i++)
			off += j[i].of[which] - share * j[i].all;
		squares += off * off;
	}
	return QUANTILE * sqrt(squares * BATCHES / (BATCHES - 1)) / all;
}

static struct critical_share share_of(const struct joined *j, size_t n, uint64_t told)
{
	struct critical_share s = {
		.collectives = n, .told = told, .estimate = NAN, .high = 1, .delay = NAN};
	double sum[WHICH] = {0}, all = 0, ns = 0;

	for (size_t i = 0; i < n; i++) {
		for (unsigned which = 0; which < WHICH; which++)
			sum[which] += j[i].of[which];
		all += j[i].all;
		ns += j[i].ns;
	}
	if (all <= 0 || ns <= 0)
		return s;
	s.estimate = sum[LAST] / all;
	s.delay = sum[LAST] / ns;
	if (n < CRITICAL_LEAST || told == 0)
		return s;
	s.low = sum[LEAST] / all;
	s.high = sum[MOST] / all;
	s.low = fmax(s.low - half_of(j, n, LEAST, s.low, all), 0);
	s.high = fmin(s.high + half_of(j, n, MOST, s.high, all), 1);
	return s;
}

struct critical_share critical_share(struct critical_event *events, size_t n, uint32_t ranks,
				     struct critical_hole *holes, size_t n_holes)
{
	struct comer *arrivals = memory_new(n + 1, sizeof(*arrivals));
	struct joined *joined = memory_new(n + 1, sizeof(*joined));
	struct lasts l = {memory_new((size_t)ranks + 1, sizeof(*l.of)), ranks};
	size_t found, end, n_joined = 0;
	struct critical_share share;
	uint64_t told = 0;

	n_holes = holes_join(holes, n_holes);
	qsort(events, n, sizeof(*events), by_rank);
	found = arrivals_of(events, n, arrivals);
	qsort(arrivals, found, sizeof(*arrivals), by_number);
	for (size_t i = 0; i < found; i = end) {
		bool whole = true;

		for (end = i; end < found && arrivals[end].number == arrivals[i].number; end++)
			whole = whole && arrivals[end].before == arrivals[i].before &&
				is_whole(&arrivals[end], holes, n_holes);
		if (whole && end - i == ranks)
			told += join(&l, &arrivals[i], ranks, &joined[n_joined++]) == 1;
	}
	share = share_of(joined, n_joined, told);
	free(l.of);
	free(joined);
	free(arrivals);
	return share;
}
