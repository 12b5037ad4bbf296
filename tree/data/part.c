/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts: kept aside while runs are mixed, then put before them again, or one for all of them. */
#include "tree/data/part.h"

#include <stdlib.h>
#include <string.h>

void parts_reset(struct parts *parts)
{
	parts->n = 0;
	parts->leaves = 0;
	parts->mixed = false;
	batch_clear(&parts->more);
}

void parts_fini(struct parts *parts)
{
	free(parts->items);
	free(parts->joined.items);
	batch_fini(&parts->more);
	*parts = (struct parts){0};
}

int parts_add(struct parts *parts, const struct run_view *view)
{
	const struct clock_line *line = &view->part->clock;
	bool was_mixed = parts->mixed;

	if (parts->n == parts->room) {
		parts->room = parts->room ? 2 * parts->room : 4;
		parts->items = reallocarray(parts->items, parts->room, sizeof(*parts->items));
		if (!parts->items)
			abort();
	}
	parts->items[parts->n++] = (struct part_item){*view->run, *view->part, view->lost, 0, 0};
	if (!(view->run->flags & RUN_FOLD))
		parts->leaves++;
	if (parts->n == 1)
		parts->line = *line;
	else if (!clock_line_same(&parts->line, line))
		parts->mixed = true;
	return parts->mixed && !was_mixed;
}

/* The mark after the parts: the counts of the marks that it replaces, and the clock of the runs
 * after it. */
static struct part parts_mark(const struct parts *parts, uint64_t *sampled)
{
	struct part mark = {
		.clock = parts->mixed ? CLOCK_LINE_NS : parts->line,
		.elements = (uint32_t)parts->leaves,
	};

	mark.clock.error_ns = 0;
	for (size_t i = 0; i < parts->n; i++) {
		const struct part_item *item = &parts->items[i];

		if (item->part.clock.error_ns > mark.clock.error_ns)
			mark.clock.error_ns = item->part.clock.error_ns;
		if (item->run.flags & RUN_FOLD) {
			mark.filtered += item->part.filtered;
			mark.reduced += item->part.reduced;
			*sampled += item->sampled;
		}
	}
	return mark;
}

bool parts_more(struct parts *parts, const struct run_view *view)
{
	struct part_item *item = parts->n ? &parts->items[parts->n - 1] : NULL;

	if (!item || (view->run->kind != RUN_LEAVES && view->run->kind != RUN_WORST))
		return false;
	if (view->run->kind == RUN_LEAVES)
		item->leaves = view->run->count;
	else
		item->worst = view->run->count;
	batch_keep(&parts->more, view);
	return true;
}

/* ---- folding ---- */

/* Does it let go, of what was read, no more than that? */
static bool part_adds_up(const struct part *part, uint64_t sampled)
{
	return sampled <= part->filtered && part->filtered <= part->read &&
	       part->reduced <= part->read - part->filtered;
}

/* Returns false if that is more than fits. */
static bool part_add(struct part *to, const struct part *from)
{
	bool over = __builtin_add_overflow(to->read, from->read, &to->read);

	over |= __builtin_add_overflow(to->lost, from->lost, &to->lost);
	over |= __builtin_add_overflow(to->discarded, from->discarded, &to->discarded);
	over |= __builtin_add_overflow(to->filtered, from->filtered, &to->filtered);
	over |= __builtin_add_overflow(to->reduced, from->reduced, &to->reduced);
	over |= __builtin_add_overflow(to->written, from->written, &to->written);
	over |= __builtin_add_overflow(to->cost_ns, from->cost_ns, &to->cost_ns);
	over |= __builtin_add_overflow(to->processes, from->processes, &to->processes);
	over |= __builtin_add_overflow(to->unreadable, from->unreadable, &to->unreadable);
	over |= __builtin_add_overflow(to->elements, from->elements, &to->elements);
	to->cpu_us = from->cpu_us > to->cpu_us ? from->cpu_us : to->cpu_us;
	return !over;
}

static bool leaf_join(struct leaf_ranges *joined, uint32_t leaf)
{
	const struct leaf_range range = {leaf, 1};

	return leaf_range_sound(&range) && leaf_ranges_add(joined, range);
}

/* Which leaves are in the parts, into parts->joined. Returns false if they cannot be folded. */
static bool leaves_join(struct parts *parts, const struct parts_place *place)
{
	struct batch_cursor next = {0};
	struct run_view view;

	parts->joined.n = 0;
	/* marks alone say of nobody when he was read */
	if (parts->leaves == 0)
		return false;
	for (size_t i = 0; i < parts->n; i++) {
		const struct run *run = &parts->items[i].run;

		if (run->flags & RUN_FOLD)
			continue;
		if (run->first != place->wave ||
		    (!(run->flags & RUN_MANY) && !leaf_join(&parts->joined, run->element)))
			return false;
	}
	while (batch_next_packed(&parts->more, &next, &view)) {
		for (unsigned i = 0; view.run->kind == RUN_LEAVES && i < view.run->count; i++)
			if (!leaf_ranges_add(&parts->joined, view.leaf_ranges[i]))
				return false;
	}
	return !place->bare || leaf_join(&parts->joined, place->index);
}

/* Returns false if what hosts say does not add up. */
static bool parts_sum(const struct parts *parts, struct part *sum, uint64_t *sampled)
{
	int64_t first_ns = INT64_MAX;

	*sum = (struct part){.clock = parts->line};
	sum->clock.error_ns = 0;
	for (size_t i = 0; i < parts->n; i++) {
		struct part part = parts->items[i].part;
		bool is_mark = parts->items[i].run.flags & RUN_FOLD;

		if (is_mark)
			part.elements = 0;
		else if (part.clock.base_ns < first_ns)
			first_ns = part.clock.base_ns;
		if (part.clock.error_ns > sum->clock.error_ns)
			sum->clock.error_ns = part.clock.error_ns;
		if (!part_add(sum, &part) ||
		    __builtin_add_overflow(*sampled, parts->items[i].sampled, sampled))
			return false;
	}
	/* ticks are nanoseconds then, and the base is when the first was read */
	if (parts->mixed)
		sum->clock =
			(struct clock_line){first_ns, (uint64_t)first_ns, 1, sum->clock.error_ns};
	return part_adds_up(sum, *sampled);
}

static void worst_emit(const struct parts *parts, const struct parts_place *place, struct batch *b)
{
	struct leaf_worsts worsts = {.n = {0}};
	struct batch_cursor next = {0};
	struct leaf_worst *out;
	struct run_view view;
	unsigned n = 0;

	for (size_t i = 0; i < parts->n; i++) {
		const struct part_item *item = &parts->items[i];

		if (item->run.flags & (RUN_FOLD | RUN_MANY))
			continue;
		leaf_worsts_add(&worsts, (struct leaf_worst){item->part.unreadable,
							     item->run.element, LEAF_UNREADABLE});
		leaf_worsts_add(&worsts,
				(struct leaf_worst){item->part.lost, item->run.element, LEAF_LOST});
	}
	while (batch_next_packed(&parts->more, &next, &view)) {
		for (unsigned i = 0; view.run->kind == RUN_WORST && i < view.run->count; i++)
			leaf_worsts_add(&worsts, view.leaf_worsts[i]);
	}
	for (unsigned i = 0; i < LEAF_FIGURES; i++)
		n += worsts.n[i];
	if (n == 0)
		return;
	out = batch_add(b, RUN_WORST, place->index, place->wave, n, 0);
	for (unsigned i = 0; i < LEAF_FIGURES; i++) {
		memcpy(out, worsts.items[i], worsts.n[i] * sizeof(*out));
		out += worsts.n[i];
	}
}

/* Returns false if they must stay apart. */
static bool parts_fold(struct parts *parts, const struct parts_place *place, struct batch *b)
{
	const struct leaf_ranges *joined = &parts->joined;
	uint64_t sampled = 0;
	struct part sum;

	if (!leaves_join(parts, place) || !parts_sum(parts, &sum, &sampled))
		return false;
	*(struct part *)batch_add(b, RUN_PART, place->index, place->wave, 1, sampled) = sum;
	b->last->flags |= RUN_MANY;
	memcpy(batch_add(b, RUN_LEAVES, place->index, place->wave, (uint32_t)joined->n, 0),
	       joined->items, joined->n * sizeof(*joined->items));
	worst_emit(parts, place, b);
	return true;
}

/* ---- emitting ---- */

/* A folded part with what follows it; @next is at that. */
static void part_emit(const struct parts *parts, const struct part_item *item,
		      struct batch_cursor *next, struct batch *b)
{
	struct run_view view;

	*(struct part *)batch_add(b, RUN_PART, item->run.element, item->run.first, 1,
				  item->sampled) = item->part;
	b->last->flags |= item->run.flags & ~RUN_LOST;
	for (int i = (item->leaves > 0) + (item->worst > 0); i > 0; i--) {
		batch_next_packed(&parts->more, next, &view);
		batch_keep(b, &view);
	}
}

void parts_emit(struct parts *parts, const struct parts_place *place, struct batch *b)
{
	bool several = parts->n > 1 || parts->n > parts->leaves;
	struct batch_cursor next = {0};
	uint64_t sampled = 0;
	struct part mark;

	if (several && place->folds && parts_fold(parts, place, b)) {
		batch_clear(&parts->more);
		return;
	}
	for (size_t i = 0; i < parts->n; i++) {
		if (!(parts->items[i].run.flags & RUN_FOLD))
			part_emit(parts, &parts->items[i], &next, b);
	}
	if (several) {
		mark = parts_mark(parts, &sampled);
		*(struct part *)batch_add(b, RUN_PART, place->index, place->wave, 1, sampled) =
			mark;
		b->last->flags |= RUN_FOLD;
	}
	batch_clear(&parts->more);
}
