/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up what processes do in a span of time, and compares it with the spans before. */
#include "consumers/phase/watching.h"

#include <math.h>
#include <stdlib.h>

#include "consumers/phase/clumps.h"
#include "consumers/phase/doubt.h"
#include "consumers/phase/multiplicity.h"
#include "consumers/phase/usual.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Chance makes a change of any process, of the whole, or of any block less often than that; as it
 * takes two spans in a row, much less. */
#define UNLIKELY 0.01

/* What is too little to be told: bits, and a share of what is usual; a share of the time. */
#define BITS_LEAST  0.2
#define BITS_SHARE  0.1
#define CLUMP_LEAST 0.1

/* Blocks in which processes have gathered that are followed. */
#define CLUMPS_MOST 64u

/* Spans of a gap that are looked at; what is beyond says nothing new. */
#define GAP_SPANS 64.0

struct clump_usual {
	uint32_t block;
	struct usual usual;
};

struct watching {
	struct watching_shape shape;
	uint32_t *block;    /* by process */
	double time, begin; /* now, and the span's */
	uint64_t run, spans, entries, left_out;
	struct occurrences visits; /* process and block */
	struct occurrences ways;   /* routes_way() */
	struct occurrences states; /* a hash of the subset's blocks */
	struct multiplicity whole;
	double spread; /* of the whole: bits times time, in this span */
	struct clumps clumps;
	struct usual time_usual, subset_usual, *process_usual;
	struct clump_usual clump_usual[CLUMPS_MOST];
	unsigned n_clumps;
	struct routes routes;
	struct doubt_span subset;      /* its entries in this span */
	double bounds;		       /* in this span: their sum */
	uint64_t borders;	       /* in all */
	struct watching_off off, most; /* of this span, and of any */
};

/* ---- life ---- */

struct watching *watching_new(const struct watching_shape *shape)
{
	struct watching *w = memory_new(1, sizeof(*w));

	w->shape = *shape;
	w->run = 1;
	w->block = memory_new(shape->processes, sizeof(*w->block));
	w->process_usual = memory_new(shape->processes, sizeof(*w->process_usual));
	for (unsigned i = 0; i < shape->processes; i++)
		w->block[i] = shape->start;
	multiplicity_init(&w->whole, shape->processes, WATCHING_BLOCKS, shape->start);
	clumps_init(&w->clumps, shape->processes, WATCHING_BLOCKS, shape->start);
	w->time = w->begin = shape->begin;
	clumps_at(&w->clumps, shape->begin);
	clumps_anew(&w->clumps);
	doubt_begin(&w->subset.doubt);
	return w;
}

void watching_free(struct watching *w)
{
	if (!w)
		return;
	free(w->block);
	free(w->process_usual);
	occurrences_fini(&w->visits);
	occurrences_fini(&w->ways);
	occurrences_fini(&w->states);
	multiplicity_fini(&w->whole);
	clumps_fini(&w->clumps);
	routes_fini(&w->routes);
	doubt_span_fini(&w->subset);
	free(w);
}

struct watched watching_end(const struct watching *w)
{
	return (struct watched){w->spans, w->entries,
				w->left_out + w->visits.left_out + w->ways.left_out +
					w->states.left_out,
				w->borders, w->most};
}

/* ---- what has changed ---- */

static double off_of(const struct watching *w, enum change_of of)
{
	if (of == CHANGE_SUBSET)
		return w->off.subset;
	if (of == CHANGE_TIME)
		return w->off.time;
	return of == CHANGE_CLUMP ? w->off.share : 0;
}

static struct watching_change change_of(const struct watching *w, enum change_of of,
					const struct usual_change *c)
{
	return (struct watching_change){
		.of = of,
		/* it is so for two spans */
		.at = w->begin - w->shape.span,
		.run = w->run,
		.now = c->now,
		.before = c->before,
		.unlikely = c->unlikely,
		.off = off_of(w, of),
	};
}

/* A figure of the whole, or of the subset. */
static void figure_look(const struct watching *w, enum change_of of, struct usual *u, double bits)
{
	static const struct usual_bounds bounds = {BITS_LEAST, BITS_SHARE, UNLIKELY};
	struct usual_change c;

	if (usual_next(u, bits, &bounds, &c) != 0) {
		struct watching_change change = change_of(w, of, &c);

		w->shape.tell(w->shape.arg, &change);
	}
}

/* Shannon's entropy of @n kinds, in bits. */
static double entropy_of(const struct occurrence *items, size_t n)
{
	double all = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		double count = (double)items[i].count;

		all += count;
		sum += count * log2(count);
	}
	return all > 0 ? fmax(0, log2(all) - sum / all) : 0;
}

/* The two blocks that it has entered most often. */
static void blocks_most(const struct occurrence *items, size_t n, struct watching_block most[2])
{
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += (double)items[i].count;
	for (size_t i = 0; i < n; i++) {
		struct watching_block b = {(uint32_t)items[i].what, (double)items[i].count / all};

		if (b.share > most[0].share) {
			most[1] = most[0];
			most[0] = b;
		} else if (b.share > most[1].share) {
			most[1] = b;
		}
	}
}

static void process_look(struct watching *w, unsigned process, const struct occurrence *items,
			 size_t n)
{
	const struct usual_bounds bounds = {BITS_LEAST, BITS_SHARE, UNLIKELY / w->shape.processes};
	struct usual_change c;

	if (usual_next(&w->process_usual[process], entropy_of(items, n), &bounds, &c) != 0) {
		struct watching_change change = change_of(w, CHANGE_PROCESS, &c);

		change.process = process;
		blocks_most(items, n, change.block);
		w->shape.tell(w->shape.arg, &change);
	}
}

static void processes_look(struct watching *w)
{
	const struct occurrences *v = &w->visits;
	size_t at = 0;

	for (unsigned p = 0; p < w->shape.processes; p++) {
		size_t from = at;

		while (at < v->n && v->items[at].what >> 32 == p)
			at++;
		process_look(w, p, v->items + from, at - from);
	}
}

static struct clump_usual *clump_at(struct watching *w, uint32_t block)
{
	for (unsigned i = 0; i < w->n_clumps; i++)
		if (w->clump_usual[i].block == block)
			return &w->clump_usual[i];
	if (w->n_clumps == CLUMPS_MOST)
		return NULL;
	w->clump_usual[w->n_clumps] = (struct clump_usual){.block = block};
	/* until now nobody gathered there */
	for (uint64_t i = 0; i < w->spans && i < USUAL_SPANS; i++)
		w->clump_usual[w->n_clumps].usual.n++;
	return &w->clump_usual[w->n_clumps++];
}

static void clump_look(const struct watching *w, struct clump_usual *u, double share)
{
	const struct usual_bounds bounds = {CLUMP_LEAST, 0, UNLIKELY / w->n_clumps};
	bool known = usual_known(&u->usual);
	struct usual_change c;
	struct watching_change change;

	if (usual_next(&u->usual, share, &bounds, &c) == 0) {
		/* from the beginning on */
		if (known || !usual_known(&u->usual) || w->spans >= USUAL_LEAST ||
		    usual_mean(&u->usual) < CLUMP_LEAST)
			return;
		c = (struct usual_change){usual_mean(&u->usual), (double)NAN, 1};
	}
	change = change_of(w, CHANGE_CLUMP, &c);
	if (isnan(c.before))
		change.at = w->shape.begin;
	change.block[0].block = u->block;
	w->shape.tell(w->shape.arg, &change);
}

static void clumps_look(struct watching *w)
{
	struct clump found[CLUMPS_MOST];
	unsigned n = clumps_find(&w->clumps, CLUMP_LEAST / 2, found, CLUMPS_MOST);

	for (unsigned i = 0; i < n; i++)
		(void)clump_at(w, found[i].block);
	for (unsigned k = 0; k < w->n_clumps; k++) {
		double share = 0;

		for (unsigned i = 0; i < n; i++)
			if (found[i].block == w->clump_usual[k].block)
				share = found[i].share;
		clump_look(w, &w->clump_usual[k], share);
	}
}

static void route_tell(void *arg, const struct routes_fork *route)
{
	struct watching *w = arg;
	static const struct usual_change nothing = {(double)NAN, (double)NAN, 1};
	struct watching_change change = change_of(w, CHANGE_ROUTE, &nothing);

	change.route = *route;
	w->shape.tell(w->shape.arg, &change);
}

/* ---- spans ---- */

static void span_forget(struct watching *w)
{
	w->left_out += w->visits.left_out + w->ways.left_out + w->states.left_out;
	w->visits.left_out = w->ways.left_out = w->states.left_out = 0;
	occurrences_clear(&w->visits);
	occurrences_clear(&w->ways);
	occurrences_clear(&w->states);
	clumps_anew(&w->clumps);
	w->spread = w->bounds = 0;
	doubt_span_next(&w->subset);
}

/* A process that changes at another time is elsewhere for so long; states of the subset that are
 * not known may be of kinds that none of the others has. */
static void off_make(struct watching *w)
{
	double all = w->bounds / w->shape.span, n = (double)doubt_span_all(&w->subset);
	double unknown = (double)doubt_span_unknown(&w->subset);
	double one = doubt_bits(1.0 / w->shape.processes, w->shape.processes + 1.0);

	w->off.share = fmin(1, all);
	w->off.time = fmin(all * one, log2(w->shape.processes));
	w->off.subset = n > 0 ? fmin(doubt_bits(unknown / n, n + unknown), log2(n)) : 0;
	w->most.share = fmax(w->most.share, w->off.share);
	w->most.time = fmax(w->most.time, w->off.time);
	w->most.subset = fmax(w->most.subset, w->off.subset);
}

static void time_pass(struct watching *w, double to)
{
	w->spread += multiplicity_spread(&w->whole) * (to - w->time);
	w->time = to;
	clumps_at(&w->clumps, to);
}

static void span_end(struct watching *w)
{
	time_pass(w, w->begin + w->shape.span);
	occurrences_merge(&w->visits);
	occurrences_merge(&w->ways);
	occurrences_merge(&w->states);
	off_make(w);
	processes_look(w);
	if (w->shape.subset)
		figure_look(w, CHANGE_SUBSET, &w->subset_usual,
			    entropy_of(w->states.items, w->states.n));
	figure_look(w, CHANGE_TIME, &w->time_usual, w->spread / w->shape.span);
	clumps_look(w);
	routes_span(&w->routes, &w->ways, route_tell, w);
	span_forget(w);
	w->begin += w->shape.span;
	w->spans++;
}

static void spans_end(struct watching *w, double time)
{
	double behind;

	for (unsigned i = 0; time - w->begin >= w->shape.span && i < GAP_SPANS; i++)
		span_end(w);
	behind = floor((time - w->begin) / w->shape.span);
	if (behind >= 1) {
		w->begin += behind * w->shape.span;
		w->time = w->begin;
		clumps_at(&w->clumps, w->begin);
		span_forget(w);
	}
}

static void state_add(struct watching *w)
{
	uint64_t sum = UINT64_C(14695981039346656037);

	for (unsigned i = 0; i < w->shape.processes; i++)
		if (w->shape.subset[i])
			sum = (sum ^ w->block[i]) * UINT64_C(1099511628211);
	occurrences_add(&w->states, sum);
}

static void process_go(struct watching *w, unsigned process, uint32_t block)
{
	uint32_t from = w->block[process];

	if (from == block)
		return;
	multiplicity_change(&w->whole, from, block);
	clumps_change(&w->clumps, from, block);
	w->block[process] = block;
}

static void bound_add(struct watching *w, double time, double bound, unsigned process)
{
	w->bounds += bound;
	w->borders += time - bound < w->begin || time + bound >= w->begin + w->shape.span;
	if (w->shape.subset && w->shape.subset[process])
		doubt_span_add(&w->subset, time, bound, process);
}

void watching_add(struct watching *w, double time, double bound, unsigned process, uint32_t block)
{
	uint32_t from = w->block[process];

	if (block >= WATCHING_BLOCKS)
		block = WATCHING_BLOCKS - 1;
	spans_end(w, time);
	time_pass(w, time);
	bound_add(w, time, bound, process);
	w->entries++;
	occurrences_add(&w->visits, (uint64_t)process << 32 | block);
	occurrences_add(&w->ways, routes_way(from, block));
	process_go(w, process, block);
	if (w->shape.subset && w->shape.subset[process])
		state_add(w);
}

void watching_run(struct watching *w)
{
	w->run++;
	for (unsigned i = 0; i < w->shape.processes; i++)
		process_go(w, i, w->shape.start);
	w->time = w->begin = 0;
	clumps_at(&w->clumps, 0);
	doubt_begin(&w->subset.doubt);
	span_forget(w);
}
