/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts the events of a wave. */
#include "consumers/watch/events-order.h"

#include <stdlib.h>

int64_t event_news(const struct evspace_event *ev)
{
	return ev->end_ns ? ev->end_ns : ev->start_ns;
}

static int compare(const void *a, const void *b)
{
	const struct timed_event *x = a, *y = b;

	if (event_news(&x->event) != event_news(&y->event))
		return event_news(&x->event) > event_news(&y->event) ? 1 : -1;
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

static int compare_typed(const void *a, const void *b)
{
	const struct timed_typed *x = a, *y = b;

	if (x->typed.time_ns != y->typed.time_ns)
		return x->typed.time_ns > y->typed.time_ns ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

void typed_order(struct typed_order *o, struct evspace_client *client)
{
	struct evspace_typed typed;

	o->n = 0;
	while (evspace_typed(client, &typed)) {
		if (o->n == o->room) {
			o->room = o->room ? 2 * o->room : 256;
			o->items = reallocarray(o->items, o->room, sizeof(*o->items));
			if (!o->items)
				abort();
		}
		o->items[o->n] = (struct timed_typed){typed, o->n};
		o->n++;
	}
	if (o->n > 1)
		qsort(o->items, o->n, sizeof(*o->items), compare_typed);
}
