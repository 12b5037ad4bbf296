/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers where in a wave's batch the large parts of its inputs are. */
#include "tree/scope/brought.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"

void brought_note(struct brought_list *list, const struct brought *what)
{
	struct brought *copy = memory_new(1, sizeof(*copy));

	*copy = *what;
	LIST_INSERT_HEAD(list, copy, entry);
}

struct brought *brought_most(const struct brought_list *list)
{
	struct brought *b, *most = NULL;

	LIST_FOREACH (b, list, entry) {
		if (!most || b->plain > most->plain)
			most = b;
	}
	return most;
}

void brought_cut(struct brought_list *list, struct brought *what, struct batch *batch)
{
	struct brought *b;

	batch_cut(batch, what->at, what->n, what->plain);
	LIST_REMOVE(what, entry);
	LIST_FOREACH (b, list, entry) {
		if (b->at > what->at)
			b->at -= what->n;
	}
	free(what);
}

void brought_clear(struct brought_list *list)
{
	struct brought *b;

	while ((b = LIST_FIRST(list))) {
		LIST_REMOVE(b, entry);
		free(b);
	}
}
