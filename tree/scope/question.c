/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs what an Open asks, but for what is its asker's own. */
#include "tree/scope/question.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/wire/wire-place.h"

/* Streams have their position in the leaves, and who fetches elements copies them. */
static bool is_shared(const Evspace__Open *open, const struct plan_place *place)
{
	return (open->reading == READ_LATEST || open->reading == READ_COUNTS) && !open->fetch[0] &&
	       place->n_children > 0;
}

/* Passes are signed anew for each plan. */
static void place_strip(Evspace__Place *root)
{
	Evspace__Place *stack[PLAN_PLACES];
	size_t n = 0;

	stack[n++] = root;
	while (n > 0) {
		Evspace__Place *p = stack[--n];

		p->pass.len = 0;
		for (size_t i = 0; i < p->n_alternates; i++)
			p->alternates[i]->pass.len = 0;
		for (size_t i = 0; i < p->n_children && n < PLAN_PLACES; i++)
			stack[n++] = p->children[i];
	}
}

struct question_packed question_of(const Evspace__Open *open, const struct plan_place *place)
{
	struct question_packed q = {NULL, 0};
	Evspace__Open asked = *open;

	if (!is_shared(open, place))
		return q;
	asked.scope = 0;
	asked.id = asked.signer = (ProtobufCBinaryData){0, NULL};
	asked.patience_ms = asked.window = 0;
	asked.weight = 0;
	/* of such views programs are told nothing */
	asked.backlog = asked.wait = asked.tells = false;
	asked.place = wire_place_new(place);
	place_strip(asked.place);
	q.bytes = evspace__open__get_packed_size(&asked);
	q.data = memory_new(q.bytes, 1);
	evspace__open__pack(&asked, q.data);
	wire_place_free(asked.place);
	return q;
}

void question_fini(struct question_packed *q)
{
	free(q->data);
	*q = (struct question_packed){NULL, 0};
}

bool question_is(const struct question_packed *q)
{
	return q->bytes > 0;
}

bool question_same(const struct question_packed *a, const struct question_packed *b)
{
	return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}
