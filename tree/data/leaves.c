/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of leaves as ranges, and lists of the worst few. */
#include "tree/data/leaves.h"

#include <stdlib.h>
#include <string.h>

#include "tree/data/names.h"

bool leaf_range_sound(const void *record)
{
	const struct leaf_range *range = record;

	return range->count > 0 && range->from <= NAME_PLACE_MAX &&
	       range->count <= NAME_PLACE_MAX + 1 - range->from;
}

bool leaf_worst_sound(const void *record)
{
	const struct leaf_worst *worst = record;

	return worst->figure < LEAF_FIGURES && worst->value > 0 &&
	       (worst->figure != LEAF_UNREADABLE || worst->value <= UINT32_MAX);
}

/* The first range that ends behind @place. */
static size_t range_find(const struct leaf_range *ranges, size_t n, uint32_t place)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (ranges[middle].from + ranges[middle].count <= place)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

bool leaf_ranges_have(const struct leaf_range *ranges, size_t n, uint32_t place)
{
	size_t at = range_find(ranges, n, place);

	return at < n && ranges[at].from <= place;
}

bool leaf_ranges_add(struct leaf_ranges *r, struct leaf_range range)
{
	size_t at = range_find(r->items, r->n, range.from);
	bool joins_before = at > 0 && r->items[at - 1].from + r->items[at - 1].count == range.from;
	bool joins_next = at < r->n && r->items[at].from == range.from + range.count;

	if (at < r->n && r->items[at].from < range.from + range.count)
		return false;
	if (joins_before) {
		r->items[at - 1].count += range.count;
		if (!joins_next)
			return true;
		r->items[at - 1].count += r->items[at].count;
		memmove(&r->items[at], &r->items[at + 1], (--r->n - at) * sizeof(*r->items));
	} else if (joins_next) {
		r->items[at].from = range.from;
		r->items[at].count += range.count;
	} else {
		if (r->n == r->room) {
			r->room = r->room ? 2 * r->room : 8;
			r->items = reallocarray(r->items, r->room, sizeof(*r->items));
			if (!r->items)
				abort();
		}
		memmove(&r->items[at + 1], &r->items[at], (r->n++ - at) * sizeof(*r->items));
		r->items[at] = range;
	}
	return true;
}

static bool is_worse(const struct leaf_worst *a, const struct leaf_worst *b)
{
	return a->value != b->value ? a->value > b->value : a->leaf < b->leaf;
}

void leaf_worsts_add(struct leaf_worsts *w, struct leaf_worst worst)
{
	struct leaf_worst *items = w->items[worst.figure];
	unsigned *n = &w->n[worst.figure], at = *n;

	if (worst.value == 0)
		return;
	while (at > 0 && is_worse(&worst, &items[at - 1]))
		at--;
	if (at == LEAF_WORST_MOST)
		return;
	*n += *n < LEAF_WORST_MOST;
	memmove(&items[at + 1], &items[at], (*n - 1 - at) * sizeof(*items));
	items[at] = worst;
}
