/* SPDX-License-Identifier: BSD-3-Clause */
/* Brought: which inputs have brought much to a wave, so that one which brings too much can be taken
 * out again, and the others stay. */
#ifndef EVSPACE_BROUGHT_H
#define EVSPACE_BROUGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "tree/data/batch.h"

/** What an input has brought to a wave: @n extents of its batch, from @at on, which are @plain
 * bytes when their columns are opened, of so many leaves. */
struct brought {
	LIST_ENTRY(brought) entry;
	const void *by; /* who it was, also in other views: to be compared alone */
	size_t input, at, n, plain;
	unsigned leaves;
};

/** Of a wave; zeroed it is empty. */
LIST_HEAD(brought_list, brought);

/** Note it. */
void brought_note(struct brought_list *list, const struct brought *what);

/** The one with the most bytes; NULL: none. */
struct brought *brought_most(const struct brought_list *list);

/** Take it out of the list and out of the wave's @batch, and free it. */
void brought_cut(struct brought_list *list, struct brought *what, struct batch *batch);

/** Forget all. */
void brought_clear(struct brought_list *list);

#endif
