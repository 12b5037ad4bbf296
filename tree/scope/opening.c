/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps which hosts have not opened a scope and why, lists leaves, and reports both upstream. */
#include "tree/scope/opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/scope/seats.h"

/* Most bytes of a child's text about a host that is not ready. */
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

/* ---- reporting upstream ---- */

/* Add the names of the leaves from @root on to @leaves, and their number to *@n. */
static void place_list(const struct plan_place *root, Evspace__Leaf *leaves, size_t *n)
{
	PLAN_FOREACH (walk, root) {
		const struct plan_place *p = walk.place;
		Evspace__Leaf *leaf;
		size_t bytes;

		if (!p->leaf)
			continue;
		leaf = &leaves[(*n)++];
		bytes = strlen(p->cluster) + strlen(p->node) + 4;
		evspace__leaf__init(leaf);
		leaf->index = p->index;
		leaf->name = memory_new(bytes, 1);
		snprintf(leaf->name, bytes, "/%s/%s", p->cluster[0] ? p->cluster : "-", p->node);
	}
}

void opening_unready(void *arg, const struct unready *who)
{
	struct opening *o = arg;
	Evspace__Unready *u = memory_new(1, sizeof(*u));

	evspace__unready__init(u);
	u->node = memory_copy(who->node);
	u->text = memory_copy(who->text);
	u->code = who->code;
	o->unready = memory_room(o->unready, o->n_unready, sizeof(*o->unready));
	o->unready[o->n_unready++] = u;
}

void opening_say(struct opening *o, struct link *up, uint32_t number, const Evspace__Open *open,
		 const struct plan_place *place)
{
	size_t places = plan_size(place).places, n = 0;
	Evspace__Opened opened = EVSPACE__OPENED__INIT;
	Evspace__Leaf *leaves = memory_new(places, sizeof(*leaves));
	Evspace__Leaf **list = memory_new(places, sizeof(*list));

	place_list(place, leaves, &n);
	for (size_t i = 0; i < n; i++)
		list[i] = &leaves[i];
	opened.scope = number;
	opened.run = open->run;
	opened.n_leaves = n;
	opened.leaves = list;
	opened.reading = open->reading;
	opened.entry = place->node;
	opened.places = (uint32_t)places;
	opened.generation = open->generation;
	opened.window = open->window;
	opened.unready = o->unready;
	opened.n_unready = o->n_unready;
	link_reply(up, number, &WIRE_FRAME(OPENED, opened, &opened), NULL,
		   "its leaves, and the hosts that are not ready, do not fit into a frame; open "
		   "fewer hosts");
	for (size_t i = 0; i < n; i++)
		free(leaves[i].name);
	for (size_t i = 0; i < o->n_unready; i++)
		evspace__unready__free_unpacked(o->unready[i], NULL);
	free(o->unready);
	free(leaves);
	free(list);
	*o = (struct opening){NULL, 0};
}
