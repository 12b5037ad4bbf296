/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps meetings for a turn, and sorts them. */
#include "consumers/analysis/meeting-order.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

struct meeting_order {
	size_t most, held; /* arrivals, and one for each meeting */
	meetings_take *take;
	void *arg;
	struct meeting *meetings;
	size_t n;
};

struct meeting_order *meeting_order_new(size_t most, meetings_take *take, void *arg)
{
	struct meeting_order *o = memory_new(1, sizeof(*o));

	o->most = most;
	o->take = take;
	o->arg = arg;
	return o;
}

void meeting_order_free(struct meeting_order *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		free(o->meetings[i].arrivals);
	free(o->meetings);
	free(o);
}

void meeting_order_add(void *order, const struct meeting *meeting)
{
	struct meeting_order *o = order;
	struct meeting *kept;

	if (o->held + meeting->n >= o->most)
		meeting_order_turn(o);
	o->meetings = memory_room(o->meetings, o->n, sizeof(*o->meetings));
	kept = &o->meetings[o->n++];
	*kept = *meeting;
	kept->arrivals = memory_new(meeting->n, sizeof(*kept->arrivals));
	memcpy(kept->arrivals, meeting->arrivals, meeting->n * sizeof(*kept->arrivals));
	o->held += meeting->n + 1;
}

/* Of the same begin by number, so that the order is always the same one. */
static int compare_meetings(const void *a, const void *b)
{
	const struct meeting *x = a, *y = b;
	const int64_t p = x->arrivals[0].start_ns, q = y->arrivals[0].start_ns;

	if (p != q)
		return p > q ? 1 : -1;
	if (x->key.comm != y->key.comm)
		return x->key.comm > y->key.comm ? 1 : -1;
	return (x->key.number > y->key.number) - (x->key.number < y->key.number);
}

void meeting_order_turn(struct meeting_order *o)
{
	if (o->n > 1)
		qsort(o->meetings, o->n, sizeof(*o->meetings), compare_meetings);
	for (size_t i = 0; i < o->n; i++) {
		o->take(o->arg, &o->meetings[i]);
		free(o->meetings[i].arrivals);
	}
	o->n = o->held = 0;
}
