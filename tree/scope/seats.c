/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the hosts of a part of a tree by name, and finds them. */
#include "tree/scope/seats.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/scope/child.h"

static int seat_order(const void *a, const void *b)
{
	const struct seat *left = a, *right = b;

	return strcmp(left->place->node, right->place->node);
}

void seats_init(struct seats *seats, const struct plan_place *place, bool leaves)
{
	*seats = (struct seats){memory_new(plan_size(place).places, sizeof(*seats->list)), 0};
	PLAN_FOREACH (walk, place) {
		if (walk.place->leaf || !leaves)
			seats->list[seats->n++].place = walk.place;
	}
	qsort(seats->list, seats->n, sizeof(*seats->list), seat_order);
}

void seats_fini(struct seats *seats)
{
	free(seats->list);
	*seats = (struct seats){NULL, 0};
}

static int node_order(const void *node, const void *seat)
{
	return strcmp(node, ((const struct seat *)seat)->place->node);
}

struct seat *seats_vacant(const struct seats *seats, const char *node)
{
	struct seat *seat = NULL;

	if (seats->n)
		seat = bsearch(node, seats->list, seats->n, sizeof(*seat), node_order);
	return seat && !seat->said ? seat : NULL;
}

void seats_refuse(struct child_user *user, size_t n)
{
	struct error e;

	if (n == 0)
		return;
	errorf(&e, "refused: it speaks %zu times for hosts that are not below it, or twice for one",
	       n);
	child_say(user, e.text);
}
