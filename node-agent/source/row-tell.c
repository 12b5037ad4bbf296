/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells processes that have asked what a wave has read of them, by operation. */
#include "node-agent/source/row-tell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment-told.h"
#include "node-agent/source/row-private.h"
#include "pathmap/base/memory.h"

/* What a process is told, while the wave is added up. */
struct row_tale {
	struct segment_told *page;
	struct segment_told_view view;
};

void follow_tell_end(struct follow *f)
{
	if (!f->tale)
		return;
	segment_told_unmap(f->tale->page);
	free(f->tale);
	f->tale = NULL;
}

/* Begin with a process that has just asked. */
static void tale_begin(const struct rows *r, struct follow *f)
{
	struct segment_told *page = segment_told_map(&f->segment->segment);

	if (!page)
		return;
	f->tale = memory_new(1, sizeof(*f->tale));
	f->tale->page = page;
	snprintf(f->tale->view.view, sizeof(f->tale->view.view), "%s", r->open->view);
}

/* One more of an operation. There is room for those that come first. */
static void tale_add(struct segment_told_view *v, const struct tuple *t, double ns_per_tick)
{
	double ns = t->end > t->start ? (double)(t->end - t->start) * ns_per_tick : 0;
	struct segment_told_op *op = v->ops;

	while (op < v->ops + SEGMENT_TOLD_OPS && op->count > 0 && op->op != t->op)
		op++;
	if (op == v->ops + SEGMENT_TOLD_OPS)
		return;
	op->op = t->op;
	op->count++;
	op->bytes += t->bytes;
	op->sum_ns += (uint64_t)fmin(ns, 0x1p63);
	op->most_ns = (uint64_t)fmax((double)op->most_ns, fmin(ns, 0x1p63));
}

/* Which processes have asked? */
static int tell_look(void *arg)
{
	struct rows *r = arg;

	r->tells = false;
	for (size_t i = 0; i < r->n_follows; i++) {
		struct follow *f = &r->follows[i];

		f->asks = !f->off_map && f->segment->alive &&
			  atomic_load_explicit(&f->segment->segment.header->asks,
					       memory_order_relaxed);
		r->tells |= f->asks;
	}
	return 0;
}

static int tell_put(void *arg)
{
	const struct rows *r = arg;

	for (size_t i = 0; i < r->n_follows; i++)
		if (r->follows[i].asks && r->follows[i].tale)
			segment_told_put_view(r->follows[i].tale->page, &r->follows[i].tale->view);
	return 0;
}

/* The process of a run, whose rows are in the same order as the runs: @row is that of the run
 * before. */
static struct follow *follow_of(struct rows *r, const struct run *run, uint32_t *row)
{
	uint32_t tried = 0;

	while (tried < r->n && r->table[*row].name != run->element) {
		*row = *row + 1 < r->n ? *row + 1 : 0;
		tried++;
	}
	for (size_t i = 0; tried < r->n && i < r->n_follows; i++)
		if (r->follows[i].serial == r->table[*row].serial)
			return &r->follows[i];
	return NULL;
}

static void wave_add(struct rows *r, const struct batch *wave)
{
	struct batch_cursor c = {0};
	double ns_per_tick = 0;
	struct run_view view;
	uint32_t row = 0;

	while (batch_next(wave, &c, &view)) {
		const struct follow *f;

		if (view.run->kind == RUN_PART)
			ns_per_tick = view.part->clock.ns_per_tick;
		if (view.run->kind != RUN_TUPLES || view.run->count == 0)
			continue;
		f = follow_of(r, view.run, &row);
		for (uint32_t i = 0; f && f->asks && f->tale && i < view.run->count; i++)
			tale_add(&f->tale->view, &view.tuples[i], ns_per_tick);
	}
}

void rows_tell(struct rows *r, const struct batch *wave, uint64_t number)
{
	uint64_t now = clock_mono_ns();

	if (!r->open->tells || r->samples || r->fetch[0] || segment_guarded(tell_look, r) < 0 ||
	    !r->tells)
		return;
	for (size_t i = 0; i < r->n_follows; i++) {
		struct follow *f = &r->follows[i];
		struct segment_told_view *its;

		if (f->asks && !f->tale)
			tale_begin(r, f);
		if (!f->asks || !f->tale)
			continue;
		its = &f->tale->view;
		its->over_ns = its->mono_ns ? now - its->mono_ns : 0;
		its->mono_ns = now;
		its->wave = number;
		memset(its->ops, 0, sizeof(its->ops));
	}
	wave_add(r, wave);
	/* a file that was cut short meanwhile is noticed when it is read */
	(void)segment_guarded(tell_put, r);
}
