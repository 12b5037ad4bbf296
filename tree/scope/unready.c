/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps who has not opened a scope, and why. */
#include "tree/scope/unready.h"

#include <stdio.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/scope/seats.h"

/* What the child says of one that is not ready is cut at this. */
#define TEXT_BYTES 512

void unready_clear(struct unready_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].node);
		free(list->items[i].text);
	}
	free(list->items);
	*list = (struct unready_list){NULL, 0};
}

void unready_add(struct unready_list *list, const char *node, const char *text, uint32_t code)
{
	list->items = memory_room(list->items, list->n, sizeof(*list->items));
	list->items[list->n++] = (struct unready){
		.node = memory_copy(node),
		.text = memory_copy(text),
		.code = code,
	};
}

size_t unready_hear(struct unready_list *list, const struct plan_place *place,
		    const Evspace__Opened *opened)
{
	char text[TEXT_BYTES];
	struct seats seats;
	struct seat *seat;
	size_t refused = 0;

	unready_clear(list);
	if (opened->n_unready == 0)
		return 0;
	seats_init(&seats, place, false);
	for (size_t i = 0; i < opened->n_unready; i++) {
		const Evspace__Unready *u = opened->unready[i];

		seat = seats_vacant(&seats, u->node);
		if (!seat) {
			refused++;
			continue;
		}
		seat->said = u->text;
		snprintf(text, sizeof(text), "%s", u->text);
		unready_add(list, seat->place->node, text, u->code);
	}
	seats_fini(&seats);
	return refused;
}
