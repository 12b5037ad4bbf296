/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts the events of a wave. */
#include "consumers/watch/events-order.h"

#include <stdlib.h>

static int64_t news(const struct evspace_event *ev)
{
	return ev->end_ns ? ev->end_ns : ev->start_ns;
}

static int compare(const void *a, const void *b)
{
	const struct timed_event *x = a, *y = b;

	if (news(&x->event) != news(&y->event))
		return news(&x->event) > news(&y->event) ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

void events_order(struct events_order *o, struct evspace_client *client)
{
	struct evspace_event ev;

	o->n = 0;
	while (evspace_event(client, &ev)) {
		if (o->n == o->room) {
			o->room = o->room ? 2 * o->room : 1024;
			o->items = reallocarray(o->items, o->room, sizeof(*o->items));
			if (!o->items)
				abort();
		}
		o->items[o->n] = (struct timed_event){ev, o->n};
		o->n++;
	}
	if (o->n > 1)
		qsort(o->items, o->n, sizeof(*o->items), compare);
}
