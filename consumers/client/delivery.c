/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges each part of an answer, keeps what is new, and says who owes what. */
#include "consumers/client/delivery-private.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/columns-batch.h"
#include "tree/data/names.h"

/* Tables by index: leaves may have others than before. */
static void places_set(struct delivery *l)
{
	free(l->again);
	free(l->below);
	free(l->noted);
	l->again = memory_new(l->n_present + 1, sizeof(*l->again));
	l->below = memory_new(l->n_places + 1, sizeof(*l->below));
	l->noted = memory_new(l->n_present + 1, sizeof(struct delivery_leaf *));
	l->n_noted = 0;
	for (size_t i = 0; i < DELIVERY_RECENT; i++)
		l->recent[i].leaves.n = 0;
	for (size_t i = 0; i < l->n_places; i++) {
		struct delivery_leaf *leaf = l->places[i];

		l->below[i + 1] = l->below[i] + (leaf != NULL);
		if (leaf && (leaf->owed.n > 0 || leaf->unreadable))
			delivery_note(l, leaf);
	}
}

struct delivery *delivery_new(void)
{
	struct delivery *l = memory_new(1, sizeof(*l));

	l->numbers = intervals_new();
	batch_init(&l->kept);
	places_set(l);
	return l;
}

void delivery_free(struct delivery *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_leaves; i++) {
		interval_set_fini(&l->leaves[i]->owed);
		free(l->leaves[i]->name);
		free(l->leaves[i]);
	}
	free(l->leaves);
	for (size_t i = 0; i < DELIVERY_RECENT; i++)
		free(l->recent[i].leaves.items);
	free(l->came.items);
	free(l->noted);
	free(l->below);
	free(l->places);
	free(l->again);
	free(l->entries);
	intervals_free(l->numbers);
	batch_fini(&l->kept);
	free(l);
}

/* ---- leaves ---- */

/* Names of nodes are unique; a node that has moved to another cluster keeps its name. */
static bool same_node(const char *a, const char *b)
{
	const char *x = strrchr(a, '/'), *y = strrchr(b, '/');

	return strcmp(x ? x : a, y ? y : b) == 0;
}

static size_t leaf_by_name(struct delivery *l, const char *text)
{
	for (size_t i = l->n_present; i < l->n_leaves; i++) {
		if (same_node(l->leaves[i]->name, text))
			return i;
	}
	l->leaves = memory_room(l->leaves, l->n_leaves, sizeof(*l->leaves));
	l->leaves[l->n_leaves] = memory_new(1, sizeof(struct delivery_leaf));
	l->leaves[l->n_leaves]->name = memory_copy(text);
	return l->n_leaves++;
}

void delivery_open(struct delivery *l, const Evspace__Opened *opened, bool backlog)
{
	l->reading = opened->reading == READ_STREAM ? READ_STREAM : READ_LATEST;
	l->backlog = backlog;
	for (size_t i = 0; i < l->n_leaves; i++)
		l->leaves[i]->present = l->leaves[i]->noted = false;
	l->n_present = 0;
	free(l->places);
	l->n_places = 0;
	for (size_t i = 0; i < opened->n_leaves; i++) {
		if (opened->leaves[i]->index <= NAME_PLACE_MAX &&
		    opened->leaves[i]->index >= l->n_places)
			l->n_places = opened->leaves[i]->index + 1;
	}
	l->places = memory_new(l->n_places + 1, sizeof(struct delivery_leaf *));
	for (size_t i = 0; i < opened->n_leaves; i++) {
		uint32_t index = opened->leaves[i]->index;
		struct delivery_leaf *leaf;
		size_t at;

		if (index >= l->n_places || l->places[index])
			continue;
		at = leaf_by_name(l, opened->leaves[i]->name);
		leaf = l->leaves[at];
		l->leaves[at] = l->leaves[l->n_present];
		l->leaves[l->n_present++] = leaf;
		leaf->index = index;
		leaf->present = leaf->back = true;
		l->places[index] = leaf;
	}
	places_set(l);
}

size_t delivery_leaves(const struct delivery *l)
{
	return l->n_present;
}

const struct delivery_leaf *delivery_leaf(const struct delivery *l, size_t i)
{
	return i < l->n_present ? l->leaves[i] : NULL;
}

const struct delivery_leaf *delivery_leaf_at(const struct delivery *l, uint32_t index)
{
	return index < l->n_places ? l->places[index] : NULL;
}

/* ---- judging ---- */

struct delivery_entry delivery_entry_of(const struct delivery *l, const struct batch *batch,
					struct batch_cursor *cursor, const struct run_view *view)
{
	struct delivery_entry e = {.wave = view->run->first};
	struct run_view leaves;

	if (view->run->flags & RUN_MANY && batch_next_packed(batch, cursor, &leaves)) {
		e.mixed = true;
		e.leaves = leaves.leaf_ranges;
		e.n_leaves = leaves.run->count;
	} else if (view->run->element < l->n_places) {
		e.leaf = l->places[view->run->element];
	}
	return e;
}

static struct delivery_entry *entry_add(struct delivery *l)
{
	if (l->n_entries == l->room_entries) {
		l->room_entries = l->room_entries ? 2 * l->room_entries : 16;
		l->entries = reallocarray(l->entries, l->room_entries, sizeof(*l->entries));
		if (!l->entries)
			abort();
	}
	l->entries[l->n_entries] = (struct delivery_entry){0};
	return &l->entries[l->n_entries++];
}

/* A part comes once in an answer: as the answered wave, or because it is owed. */
static bool part_is_new(struct delivery *l, const Evspace__Answer *a, struct delivery_leaf *leaf,
			uint64_t wave)
{
	bool twice = !leaf_ranges_add(&l->came, (struct leaf_range){leaf->index, 1});

	if (twice || l->reading == READ_LATEST || (!a->again && wave == a->wave))
		return !twice;
	return interval_set_have(&leaf->owed, wave);
}

/* Leaves of the scope in a range, which may go beyond its places. */
static size_t range_leaves(const struct delivery *l, struct leaf_range range)
{
	size_t from = range.from < l->n_places ? range.from : l->n_places;
	size_t most = l->n_places - from;

	return l->below[from + (range.count < most ? range.count : most)] - l->below[from];
}

/* Its leaves cannot be told apart: they are all new, or none is. */
static bool folded_is_new(struct delivery *l, const Evspace__Answer *a,
			  const struct delivery_entry *e)
{
	size_t leaves = 0, owing = 0;
	bool twice = false;

	for (uint32_t i = 0; i < e->n_leaves; i++) {
		leaves += range_leaves(l, e->leaves[i]);
		twice |= !leaf_ranges_add(&l->came, e->leaves[i]);
	}
	if (leaves == 0 || twice)
		return false;
	if (l->reading == READ_LATEST || (!a->again && e->wave == a->wave))
		return true;
	for (size_t i = 0; i < l->n_noted; i++)
		owing += delivery_entry_has(e, l->noted[i]) &&
			 interval_set_have(&l->noted[i]->owed, e->wave);
	return owing == leaves;
}

/* The parts of a mark cannot be told apart: they are all new, or none is. @since: the first entry
 * behind the last mark. */
static void judge_mark(struct delivery *l, uint32_t joins, size_t since)
{
	struct delivery_entry *mark = entry_add(l);
	size_t at = l->n_entries - 1;
	bool all = joins <= at - since;

	mark->mixed = true;
	mark->joins = joins = all ? joins : (uint32_t)(at - since);
	for (size_t i = at - joins; i < at; i++)
		all = all && l->entries[i].is_new;
	for (size_t i = at - joins; i < at; i++) {
		l->entries[i].is_new = all;
		l->entries[i].mixed = true;
	}
	l->entries[at].is_new = all;
}

static void judge(struct delivery *l, const Evspace__Answer *a, const struct batch *batch)
{
	struct batch_cursor cursor = {0};
	struct run_view view;
	size_t since = 0;

	l->came.n = 0;
	l->n_entries = 0;
	if (!a->again)
		l->unnamed = 0;
	while (batch_next_part(batch, &cursor, &view)) {
		struct delivery_entry *e;

		if (view.run->flags & RUN_FOLD) {
			judge_mark(l, view.part->elements, since);
			since = l->n_entries;
			continue;
		}
		e = entry_add(l);
		*e = delivery_entry_of(l, batch, &cursor, &view);
		e->is_new = e->leaf ? part_is_new(l, a, e->leaf, e->wave) : folded_is_new(l, a, e);
	}
}

/* ---- keeping ---- */

/* Begin to copy: keeps the runs before @until as they are. */
static void keep_all_before(struct delivery *l, const struct batch *batch,
			    const struct batch_cursor *until)
{
	struct batch_cursor cursor = {0};
	struct run_view view;

	while ((cursor.extent < until->extent || cursor.offset < until->offset) &&
	       batch_next_packed(batch, &cursor, &view))
		batch_keep(&l->kept, &view);
}

/* A run, and the same as what its columns stand for. */
struct delivery_run {
	struct run_view packed, view;
	struct run head;
};

/* Add the last tuples of a run of columns. */
static void keep_opened(struct delivery *l, const struct delivery_run *r, uint32_t fresh,
			uint64_t lost)
{
	uint32_t old = r->head.count - fresh;
	struct batch_cursor cursor = {0};
	struct run_view open;
	struct batch opened;

	batch_init(&opened);
	columns_run_open(&opened, &r->packed);
	if (batch_next_packed(&opened, &cursor, &open))
		memcpy(batch_add(&l->kept, RUN_TUPLES, open.run->element, open.run->first + old,
				 fresh, lost),
		       open.tuples + old, fresh * sizeof(struct tuple));
	batch_fini(&opened);
}

/* Add what is new of a run: its end, since earlier tuples have lower numbers. */
static void keep_new(struct delivery *l, const struct delivery_run *r, uint32_t fresh,
		     uint64_t lost)
{
	const struct run_view *view = &r->view;
	uint32_t old = view->run->count - fresh;

	if (old == 0 && lost == view->lost) {
		batch_keep(&l->kept, &r->packed);
	} else if (view->run->flags & RUN_DISCARDED) {
		if (lost)
			batch_discard(&l->kept, view->run->element, view->run->first, lost);
	} else if (fresh > 0 && r->packed.run->kind == RUN_COLUMNS) {
		keep_opened(l, r, fresh, lost);
	} else if (fresh > 0 || lost > 0) {
		void *to = batch_add(&l->kept, RUN_TUPLES, view->run->element,
				     view->run->first + old, fresh, lost);

		if (fresh > 0)
			memcpy(to, view->tuples + old, fresh * sizeof(struct tuple));
	}
}

/* Numbers are without gaps only if no stage filters. */
static bool has_numbers(const struct delivery *l, const struct run_view *view)
{
	const struct delivery_leaf *leaf = delivery_leaf_at(l, name_place(view->run->element));

	return l->reading == READ_STREAM && view->run->kind == RUN_TUPLES &&
	       !(view->run->flags & RUN_SPARSE) && leaf && !l->thinned &&
	       leaf->sums.filtered == 0 && leaf->sums.reduced == 0;
}

/* Mixed parts are judged as a whole; and the index in the name is that of the leaf. */
static bool is_single(const struct delivery *l, const struct delivery_entry *e,
		      const struct run_view *view)
{
	return !e->mixed && e->leaf &&
	       e->leaf == delivery_leaf_at(l, name_place(view->run->element));
}

/* Subtract from the sums what a run reports again as lost, or discarded. */
static void sums_repeat(struct delivery_sums *sums, const struct run_view *view, uint32_t fresh,
			uint64_t lost)
{
	sums->read -= view->run->count - fresh;
	if (view->run->flags & RUN_DISCARDED)
		sums->discarded -= view->lost - lost;
	else
		sums->lost -= view->lost - lost;
}

/* Of the leaves of a folded part those that are named have unreadable processes, and others. */
static void folded_take(struct delivery *l, const struct delivery_entry *e, const struct part *part)
{
	if (e->n_leaves == 0)
		return;
	l->unnamed += part->unreadable;
	for (size_t i = 0; i < l->n_noted; i++) {
		if (delivery_entry_has(e, l->noted[i]))
			l->noted[i]->unreadable = 0;
	}
}

static void worst_take(struct delivery *l, const struct run_view *view)
{
	for (unsigned i = 0; i < view->run->count; i++) {
		const struct leaf_worst *worst = &view->leaf_worsts[i];
		struct delivery_leaf *leaf =
			worst->leaf < l->n_places ? l->places[worst->leaf] : NULL;

		if (leaf && worst->figure == LEAF_UNREADABLE) {
			leaf->unreadable = (uint32_t)worst->value;
			delivery_note(l, leaf);
			l->unnamed -= worst->value < l->unnamed ? worst->value : l->unnamed;
		}
		if (leaf && worst->figure == LEAF_LOST)
			leaf->sums.lost += worst->value;
	}
}

static void take_part(struct delivery *l, const struct delivery_entry *e,
		      const struct run_view *view, struct delivery_sums *sums)
{
	const struct part *part = view->part;
	struct delivery_sums *of_leaf = e->leaf ? &e->leaf->sums : NULL;

	sums->read += part->read;
	sums->lost += part->lost;
	sums->discarded += part->discarded;
	sums->filtered += part->filtered;
	sums->reduced += part->reduced;
	sums->sampled += view->lost;
	folded_take(l, e, part);
	if (!of_leaf) {
		l->thinned = l->thinned || part->filtered || part->reduced;
		return;
	}
	of_leaf->read += part->read;
	of_leaf->lost += part->lost;
	of_leaf->discarded += part->discarded;
	of_leaf->filtered += part->filtered;
	of_leaf->reduced += part->reduced;
	e->leaf->unreadable = part->unreadable;
	if (part->unreadable)
		delivery_note(l, e->leaf);
}

static void keep_tuples(struct delivery *l, struct delivery_entry *e, const struct delivery_run *r,
			bool *copying, struct batch *batch, const struct batch_cursor *at,
			struct delivery_sums *sums)
{
	const struct run_view *view = &r->view;
	uint64_t lost = view->lost;
	uint32_t fresh = view->run->count;

	if (has_numbers(l, view) && e->mixed) {
		/* a view's stages may change: its numbers must be known then */
		intervals_take_run(l->numbers, view, l->backlog, &lost);
		lost = view->lost;
	} else if (has_numbers(l, view) && is_single(l, e, view)) {
		fresh = intervals_take_run(l->numbers, view, l->backlog, &lost);
		/* tuples that come again were counted again as read, or lost */
		sums->repeated += view->run->count - fresh;
		sums_repeat(sums, view, fresh, lost);
		sums_repeat(&e->leaf->sums, view, fresh, lost);
	}
	sums->tuples += fresh;
	if (e->leaf)
		e->leaf->sums.tuples += fresh;
	if (!*copying && (fresh != view->run->count || lost != view->lost)) {
		keep_all_before(l, batch, at);
		*copying = true;
	}
	if (*copying)
		keep_new(l, r, fresh, lost);
}

/* The newest tuples have no predecessors that could be missing: their numbers do not count. Those
 * of programs' elements come once by (leaf, wave). */
static void take_newest(const struct delivery_entry *e, uint32_t n, struct delivery_sums *sums)
{
	sums->tuples += n;
	if (e->leaf)
		e->leaf->sums.tuples += n;
}

/* Go through the answer again, and keep what is new. */
static void keep(struct delivery *l, struct batch *batch, struct delivery_sums *sums)
{
	struct batch_cursor cursor = {0}, at = {0};
	struct delivery_run r;
	bool copying = false;
	size_t parts = 0;

	for (; batch_next_packed(batch, &cursor, &r.packed); at = cursor) {
		const struct run_view *view = &r.view;
		struct delivery_entry *e;

		r.view = columns_run_look(&r.packed, &r.head);
		parts += view->run->kind == RUN_PART;
		e = &l->entries[parts - 1];
		if (!e->is_new) {
			if (!copying)
				keep_all_before(l, batch, &at);
			copying = true;
			continue;
		}
		if (view->run->kind == RUN_PART)
			take_part(l, e, view, sums);
		if (view->run->kind == RUN_WORST)
			worst_take(l, view);
		if (view->run->kind == RUN_NEWEST)
			take_newest(e, view->run->count, sums);
		if (view->run->kind == RUN_TYPED)
			take_newest(e, typed_count(view->typed_words, view->run->count), sums);
		if (view->run->kind == RUN_TUPLES)
			keep_tuples(l, e, &r, &copying, batch, &at, sums);
		else if (copying)
			batch_keep(&l->kept, &r.packed);
	}
	if (!copying)
		return;
	batch_clear(batch);
	batch_link(batch, &l->kept);
}

void delivery_take(struct delivery *l, const Evspace__Answer *a, const struct delivery_times *times,
		   struct batch *batch, struct delivery_sums *sums)
{
	uint64_t left;

	*sums = (struct delivery_sums){0};
	judge(l, a, batch);
	if (l->reading == READ_STREAM)
		delivery_settle(l, a, times);
	keep(l, batch, sums);
	delivery_forgive(l);
	left = sums->read - sums->filtered - sums->reduced;
	sums->unaccounted = left > sums->tuples ? left - sums->tuples : sums->tuples - left;
}
