/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that a map takes from one node and gives to another of the same event space, so that each
 * tuple is read by one of the two. */
#include <string.h>

#include "node-agent/source/handover.h"
#include "node-agent/source/row-private.h"

uint32_t rows_number(struct rows *r, struct follow *f, const struct cursor_key *key, uint64_t start,
		     bool *given)
{
	struct cursor_key own = *key;
	uint32_t row = cursor_find(r->cursor, &own), next;
	uint64_t position, mine;

	*given = false;
	if (row == UINT32_MAX) {
		if (!f || !f->moved || r->reading != READ_STREAM)
			return cursor_row(r->cursor, &own, start);
		row = cursor_row_given(r->cursor, &own, start);
	}
	for (own.tenure = 1; (next = cursor_find(r->cursor, &own)) != UINT32_MAX; own.tenure++)
		row = next;
	if (row == UINT32_MAX || !f || !cursor_is_given(r->cursor, row))
		return row;
	/* On from where the last one stopped, which may have been this node. */
	position = mine = cursor_position(r->cursor, row);
	if (r->handovers && handover_take(r->handovers, key, &position) != HANDOVER_WAIT)
		return cursor_row(r->cursor, &own, position > mine ? position : mine);
	*given = f->waiting = r->waiting = true;
	return row;
}

void rows_give(struct rows *r, struct follow *f)
{
	if (f->given)
		return;
	f->given = true;
	f->waiting = false;
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->table[i].serial != f->serial)
			continue;
		r->table[i].given = true;
		cursor_give(r->cursor, i);
	}
}

void rows_replace(struct rows *r, const struct plan_place *place)
{
	bool renamed = strcmp(r->place->cluster, place->cluster) != 0;

	r->place = place;
	r->replaced = true;
	for (size_t i = 0; renamed && i < r->n_follows; i++)
		r->follows[i].elements = r->follows[i].threads = 0;
}

void rows_claim(struct rows *r)
{
	char dir[ROW_FOLDER];

	rows_folder(r, dir);
	r->handovers = handovers_open(dir, r->id, r->host->node);
	r->waiting = false;
	for (size_t i = 0; i < r->n_follows; i++) {
		struct follow *f = &r->follows[i];

		if (!f->waiting || f->broken)
			continue;
		f->waiting = false;
		f->elements = 0;
	}
}

void rows_claim_end(struct rows *r)
{
	handovers_close(r->handovers);
	r->handovers = NULL;
}
