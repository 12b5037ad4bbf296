/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a wave in the order of their ends. */
#ifndef EVSPACE_EVENTS_ORDER_H
#define EVSPACE_EVENTS_ORDER_H

#include "consumers/client/evspace-client.h"

/** An event, and its index in its wave. */
struct timed_event {
	struct evspace_event event;
	size_t place;
};

/** Those of a wave; zeroed at first, `items` is for the owner to free(). */
struct events_order {
	struct timed_event *items;
	size_t n, room;
};

/** Take all events of the wave of @client: by time, those of an element in their order. Valid until
 * the next evspace_next(). */
void events_order(struct events_order *order, struct evspace_client *client);

/** When an event was new, by which they are ordered. */
int64_t event_news(const struct evspace_event *ev);

/** A tuple of a program's own element, likewise; and those of a wave, by time. */
struct timed_typed {
	struct evspace_typed typed;
	size_t place;
};

struct typed_order {
	struct timed_typed *items;
	size_t n, room;
};

void typed_order(struct typed_order *order, struct evspace_client *client);

#endif
