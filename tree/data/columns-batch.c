/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes over the runs of a batch and puts others in the place of some; the rest stays where it is.
 */
#include "tree/data/columns-batch.h"

#include <stdlib.h>
#include <string.h>

#include "tree/data/clock.h"
#include "tree/data/columns.h"

/* Of fewer, columns are hardly smaller: each has a reference of its own. */
#define WORTH 8u
/* Bytes, opened, between two looks at the clock. */
#define LOOK (64u << 10)

static bool run_is_worth(const struct run *run)
{
	return columns_possible(run->kind) && run->count >= WORTH;
}

/* Records of which columns, however large, are no more words than a run may have. */
static uint32_t piece_most(enum run_kind kind)
{
	const size_t bytes = UINT16_MAX * sizeof(struct column_word);

	return (uint32_t)(bytes / columns_room(kind, COLUMNS_BLOCK)) * COLUMNS_BLOCK;
}

/* Add @n of the run's records from @at on as columns, or as they are where that is smaller. */
static void piece_pack(struct batch *out, const struct run_view *view, uint32_t at, uint32_t n)
{
	const struct run *run = view->run;
	const size_t record = run_record_bytes(run->kind), plain = n * record;
	const size_t room = columns_room(run->kind, n) / sizeof(struct column_word) + 1;
	const unsigned char *records = (const unsigned char *)view->records + at * record;
	/* What was lost came before the first. */
	const uint64_t lost = at == 0 ? view->lost : 0;
	const uint32_t element = run->element + (run->kind == RUN_NEWEST ? at : 0);
	const uint64_t first = run->kind == RUN_NEWEST ? run->first : run_number(run, at);
	unsigned char *to = batch_add(out, RUN_COLUMNS, element, first, (uint32_t)room, lost);
	const size_t bytes = columns_put(run->kind, records, n, to);

	if (bytes < plain) {
		batch_trim(out, (uint32_t)(bytes / sizeof(struct column_word)));
		out->plain += plain - bytes;
	} else {
		batch_settle(out, first, 0, 0);
		memcpy(batch_add(out, run->kind, element, first, n, lost), records, plain);
	}
	out->last->flags |= run->flags & RUN_SPARSE;
}

/* Add the run as columns. Returns false when it is too short for that to pay. */
static bool run_pack(struct batch *out, const struct run_view *view)
{
	const uint32_t count = view->run->count;
	uint32_t most;

	if (!run_is_worth(view->run))
		return false;
	most = piece_most(view->run->kind);
	for (uint32_t at = 0; at < count; at += most)
		piece_pack(out, view, at, count - at < most ? count - at : most);
	return true;
}

struct run_view columns_run_look(const struct run_view *packed, struct run *head)
{
	struct run_view view = *packed;
	struct columns what;

	if (packed->run->kind != RUN_COLUMNS)
		return view;
	what = columns_head(packed->records);
	*head = *packed->run;
	head->kind = (uint8_t)what.kind;
	head->count = (uint16_t)what.count;
	view.run = head;
	view.records = NULL;
	return view;
}

void columns_run_open(struct batch *out, const struct run_view *view)
{
	const struct run *run = view->run;
	struct columns what = columns_head(view->records);
	void *to = batch_add(out, what.kind, run->element, run->first, what.count, view->lost);

	/* It was made here, or batch_check() has looked. */
	if (columns_get(view->records, run->count * sizeof(struct column_word), &what, to, NULL) <
	    0)
		abort();
	out->last->flags |= run->flags & RUN_SPARSE;
}

/* Add what the run stands for. Returns false when it is no columns. */
static bool run_open(struct batch *out, const struct run_view *view)
{
	if (view->run->kind != RUN_COLUMNS)
		return false;
	columns_run_open(out, view);
	return true;
}

void columns_turn_drop(struct columns_turn *turn)
{
	batch_fini(&turn->done);
	turn->at = (struct batch_cursor){0};
}

/* Put what @change makes of runs in their place. */
static int turn_go(struct batch *b, struct columns_turn *turn, uint64_t until_ns,
		   bool (*change)(struct batch *out, const struct run_view *view))
{
	size_t looked = turn->done.plain;
	struct run_view view;

	while (batch_next_packed(b, &turn->at, &view)) {
		if (!change(&turn->done, &view))
			batch_keep(&turn->done, &view);
		if (!until_ns || turn->done.plain - looked < LOOK)
			continue;
		if (clock_mono_ns() >= until_ns)
			return 1;
		looked = turn->done.plain;
	}
	batch_clear(b);
	batch_link(b, &turn->done);
	columns_turn_drop(turn);
	return 0;
}

/* Many waves have a few tuples of each element: these cost no table. */
static bool is_worth(const struct batch *b)
{
	struct batch_cursor c = {0};
	struct run_view view;

	while (batch_next_packed(b, &c, &view)) {
		if (run_is_worth(view.run))
			return true;
	}
	return false;
}

int columns_turn_pack(struct batch *b, struct columns_turn *turn, uint64_t until_ns)
{
	const bool begun = turn->at.extent > 0 || turn->at.offset > 0;

	return begun || is_worth(b) ? turn_go(b, turn, until_ns, run_pack) : 0;
}

int columns_turn_open(struct batch *b, struct columns_turn *turn, uint64_t until_ns)
{
	return b->plain > b->bytes ? turn_go(b, turn, until_ns, run_open) : 0;
}

void columns_batch_pack(struct batch *b)
{
	columns_turn_pack(b, &(struct columns_turn){0}, 0);
}

void columns_batch_open(struct batch *b)
{
	columns_turn_open(b, &(struct columns_turn){0}, 0);
}
