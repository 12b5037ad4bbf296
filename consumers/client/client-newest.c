/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps one tuple of each element, by host. */
#include "consumers/client/client-newest.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

struct newest_element {
	uint32_t element;
	uint64_t number;
	struct tuple tuple;
	STAILQ_ENTRY(newest_element) entry;
	UT_hash_handle hh;
};

struct newest_host {
	uint32_t place;
	bool here; /* in this wave, with: */
	struct part part;
	STAILQ_HEAD(, newest_element) elements;
	UT_hash_handle hh;
};

struct client_newest {
	struct newest_host *hosts;
	struct newest_element *elements;
};

struct client_newest *client_newest_new(void)
{
	return memory_new(1, sizeof(struct client_newest));
}

void client_newest_free(struct client_newest *n)
{
	struct newest_host *h, *after;
	struct newest_element *of, *next;

	if (!n)
		return;
	HASH_ITER(hh, n->elements, of, next)
	{
		HASH_DEL(n->elements, of);
		free(of);
	}
	HASH_ITER(hh, n->hosts, h, after)
	{
		HASH_DEL(n->hosts, h);
		free(h);
	}
	free(n);
}

static struct newest_host *host_get(struct client_newest *n, uint32_t place)
{
	struct newest_host *h;

	HASH_FIND(hh, n->hosts, &place, sizeof(place), h);
	if (h)
		return h;
	h = memory_new(1, sizeof(*h));
	h->place = place;
	STAILQ_INIT(&h->elements);
	HASH_ADD(hh, n->hosts, place, sizeof(h->place), h);
	return h;
}

static void run_take(struct client_newest *n, struct newest_host *h, const struct run_view *view)
{
	const uint32_t last = view->run->count - 1u;
	struct newest_element *of;

	HASH_FIND(hh, n->elements, &view->run->element, sizeof(view->run->element), of);
	if (!of) {
		of = memory_new(1, sizeof(*of));
		of->element = view->run->element;
		HASH_ADD(hh, n->elements, element, sizeof(of->element), of);
		STAILQ_INSERT_TAIL(&h->elements, of, entry);
	}
	of->number = run_number(view->run, last);
	of->tuple = view->tuples[last];
}

static void host_put(struct newest_host *h, uint64_t wave, struct batch *to)
{
	const struct newest_element *of;
	struct part *part = batch_add(to, RUN_PART, h->place, wave, 1, 0);

	*part = h->part;
	/* what is older is not read, and not counted */
	part->read = part->lost = part->discarded = part->filtered = part->reduced = 0;
	STAILQ_FOREACH (of, &h->elements, entry)
		part->read++;
	STAILQ_FOREACH (of, &h->elements, entry) {
		struct tuple *t = batch_add(to, RUN_TUPLES, of->element, of->number, 1, 0);

		*t = of->tuple;
	}
	h->here = false;
}

void client_newest_apply(struct client_newest *n, uint64_t wave, struct batch *batch)
{
	struct batch_cursor cursor = {0};
	struct newest_host *h = NULL;
	struct run_view view;
	struct batch kept;

	while (batch_next_packed(batch, &cursor, &view)) {
		if (view.run->kind == RUN_PART) {
			h = host_get(n, view.run->element);
			h->here = true;
			h->part = *view.part;
		} else if (h && view.run->kind == RUN_TUPLES && view.run->count > 0) {
			run_take(n, h, &view);
		}
	}
	batch_init(&kept);
	for (h = n->hosts; h; h = h->hh.next) {
		if (h->here)
			host_put(h, wave, &kept);
	}
	batch_clear(batch);
	batch_link(batch, &kept);
	batch_fini(&kept);
}
