/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the tuples and holes of each element, wave by wave. */
#include "consumers/keep/contents.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

static struct content *content_of(struct contents *h, const char *name)
{
	struct content *of;

	HASH_FIND_STR(h->elements, name, of);
	if (of)
		return of;
	of = memory_new(1, sizeof(*of));
	of->name = memory_copy(name);
	of->first = of->last = UINT64_MAX;
	HASH_ADD_KEYPTR(hh, h->elements, of->name, strlen(of->name), of);
	h->n++;
	return of;
}

static void take_event(struct contents *h, const struct evspace_event *ev)
{
	struct content *of = content_of(h, ev->name);
	int64_t end = ev->end_ns > ev->start_ns ? ev->end_ns : ev->start_ns;

	of->tuples++;
	if (of->first == UINT64_MAX)
		of->first = ev->number;
	if (ev->number != UINT64_MAX)
		of->last = ev->number;
	if (!h->from_ns || ev->start_ns < h->from_ns)
		h->from_ns = ev->start_ns;
	if (end > h->to_ns)
		h->to_ns = end;
}

void contents_take(struct contents *h, struct evspace_client *client)
{
	struct evspace_event ev;
	struct evspace_loss loss;

	while (evspace_event(client, &ev))
		take_event(h, &ev);
	evspace_rewind(client);
	while (evspace_loss(client, &loss)) {
		struct content *of = content_of(h, loss.name);

		if (loss.discarded)
			of->discarded += loss.lost;
		else
			of->lost += loss.lost;
	}
}

void contents_fini(struct contents *h)
{
	struct content *of, *next;

	HASH_ITER(hh, h->elements, of, next)
	{
		HASH_DELETE(hh, h->elements, of);
		free(of->name);
		free(of);
	}
	*h = (struct contents){0};
}
