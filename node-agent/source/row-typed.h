/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of programs' own elements (node-agent/pastset), whose tuples have types. */
#ifndef EVSPACE_ROW_TYPED_H
#define EVSPACE_ROW_TYPED_H

#include "node-agent/source/row.h"

/** Where the tuples of a wave go. */
struct typed_wave {
	const struct ask *ask;
	enum reading reading;
	enum cursor_wave wave; /* of a stream */
	struct batch *out;
	struct part *part;
	uint32_t *fill;
	volatile uint32_t *at; /* the row that is being read */
	uint32_t *room;	       /* what may still be brought, as so many trace tuples of 40 bytes */
};

/** Make rows of the run's elements that are selected by name; those of removed ones are no longer
 * read. `*` and `**` alone select none: a pattern says `element`, `element:NAME`. */
void rows_take_typed(struct rows *r);

/** The number of the run's elements, selected or not, if any is. */
size_t rows_count_typed(const struct rows *r);

/** Read these rows. For a guarded read. Returns 0, or -1: row *at is damaged. */
int rows_read_typed(const struct rows *r, const struct typed_wave *w);

/** Files of elements go (store_element.going): what was not read of them is lost (row_lose()). */
void rows_gone_typed(struct rows *r);

#endif
