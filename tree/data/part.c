/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts: kept aside while runs are mixed, then put before them again. */
#include "tree/data/part.h"

#include <stdlib.h>

void parts_reset(struct parts *parts)
{
	parts->n = 0;
	parts->leaves = 0;
	parts->mixed = false;
}

void parts_fini(struct parts *parts)
{
	free(parts->items);
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
	parts->items[parts->n++] = (struct part_item){*view->run, *view->part};
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
static struct part parts_mark(const struct parts *parts)
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
		}
	}
	return mark;
}

void parts_emit(const struct parts *parts, uint32_t place, uint64_t wave, struct batch *b)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct part_item *item = &parts->items[i];
		struct part *out;

		if (item->run.flags & RUN_FOLD)
			continue;
		out = batch_add(b, RUN_PART, item->run.element, item->run.first, 1, 0);
		*out = item->part;
	}
	if (parts->n > 1 || parts->n > parts->leaves) {
		struct part *out = batch_add(b, RUN_PART, place, wave, 1, 0);

		*out = parts_mark(parts);
		b->last->flags |= RUN_FOLD;
	}
}
