/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts by sorting what has come, whenever the room is full. */
#include "consumers/phase/occurrences.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"

#define ROOM_FIRST 4096u

static int by_what(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;

	return (x->what > y->what) - (x->what < y->what);
}

void occurrences_merge(struct occurrences *o)
{
	size_t n = 0;

	if (o->n == 0)
		return;
	qsort(o->items, o->n, sizeof(*o->items), by_what);
	for (size_t i = 1; i < o->n; i++) {
		if (o->items[i].what == o->items[n].what)
			o->items[n].count += o->items[i].count;
		else
			o->items[++n] = o->items[i];
	}
	o->n = n + 1;
}

/* Room for more: half of it at least is free then, so that sorting stays rare. */
static void room_make(struct occurrences *o)
{
	occurrences_merge(o);
	o->full = o->n >= OCCURRENCES_MOST;
	if (o->full || (o->room > 0 && o->n <= o->room / 2))
		return;
	o->room = o->room ? 2 * o->room : ROOM_FIRST;
	o->items = reallocarray(o->items, o->room, sizeof(*o->items));
	if (!o->items)
		abort();
}

void occurrences_add(struct occurrences *o, uint64_t what)
{
	if (o->n > 0 && o->items[o->n - 1].what == what) {
		o->items[o->n - 1].count++;
		return;
	}
	if (o->n == o->room && !o->full)
		room_make(o);
	if (o->full)
		o->left_out++;
	else
		o->items[o->n++] = (struct occurrence){what, 1};
}

void occurrences_clear(struct occurrences *o)
{
	o->n = 0;
	o->full = 0;
}

void occurrences_fini(struct occurrences *o)
{
	free(o->items);
	*o = (struct occurrences){0};
}
