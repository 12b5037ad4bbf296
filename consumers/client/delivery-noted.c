/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the list of leaves of which there is something to know, and what they owe after an
 * answer. */
#include <string.h>

#include "consumers/client/delivery-private.h"

/* ---- who is noted ---- */

static bool is_noted(const struct delivery_leaf *leaf)
{
	return leaf->owed.n > 0 || !leaf->back || leaf->unreadable > 0;
}

void delivery_note(struct delivery *l, struct delivery_leaf *leaf)
{
	size_t at = l->n_noted;

	if (leaf->noted)
		return;
	/* most come in order */
	while (at > 0 && l->noted[at - 1]->index > leaf->index)
		at--;
	memmove(&l->noted[at + 1], &l->noted[at], (l->n_noted++ - at) * sizeof(*l->noted));
	l->noted[at] = leaf;
	leaf->noted = true;
}

void delivery_forgive(struct delivery *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_noted; i++) {
		l->noted[i]->noted = is_noted(l->noted[i]);
		if (l->noted[i]->noted)
			l->noted[n++] = l->noted[i];
	}
	l->n_noted = n;
}

/* ---- after an answer ---- */

/* Was its connection down before the wave was asked for? Then the leaf does not know the wave. */
static bool never_asked(const Evspace__Missing *m, const struct delivery_times *times)
{
	uint64_t since_ns = m->since_ms * 1000000u;

	return m->why == MISSING_UNREACHABLE && since_ns < times->came_ns &&
	       times->came_ns - since_ns < times->asked_ns;
}

/* Those that have brought the wave; empty at first. NULL: it is far older than the newest. */
static struct leaf_ranges *recent_of(struct delivery *l, uint64_t wave)
{
	struct delivery_recent *recent = &l->recent[wave % DELIVERY_RECENT];

	if (recent->wave > wave && recent->leaves.n > 0)
		return NULL;
	if (recent->wave != wave)
		recent->leaves.n = 0;
	recent->wave = wave;
	return &recent->leaves;
}

static void recent_add(struct delivery *l, const struct delivery_entry *e)
{
	struct leaf_ranges *brought = recent_of(l, e->wave);

	if (brought && e->leaf)
		leaf_ranges_add(brought, (struct leaf_range){e->leaf->index, 1});
	for (uint32_t i = 0; brought && i < e->n_leaves; i++)
		leaf_ranges_add(brought, e->leaves[i]);
}

/* Has it brought the wave, or a later one? */
static bool has_come_since(const struct delivery *l, const struct delivery_leaf *leaf,
			   uint64_t wave)
{
	for (size_t i = 0; i < DELIVERY_RECENT; i++) {
		const struct delivery_recent *recent = &l->recent[i];

		if (recent->wave >= wave &&
		    leaf_ranges_have(recent->leaves.items, recent->leaves.n, leaf->index))
			return true;
	}
	return false;
}

/* The leaves of places [@from, @to) owe the wave. */
static void owe(struct delivery *l, uint64_t wave, size_t from, size_t to)
{
	if (from >= to || l->below[from] == l->below[to])
		return;
	for (; from < to; from++) {
		if (!l->places[from])
			continue;
		interval_set_add(&l->places[from]->owed, wave, wave + 1);
		delivery_note(l, l->places[from]);
	}
}

/* A leaf that is not in the answer may still have the wave. */
static void others_owe(struct delivery *l, uint64_t wave)
{
	const struct leaf_ranges *brought = recent_of(l, wave);
	size_t from = 0;

	for (size_t i = 0; brought && i < brought->n && from < l->n_places; i++) {
		const struct leaf_range *range = &brought->items[i];

		owe(l, wave, from, range->from < l->n_places ? range->from : l->n_places);
		from = (size_t)range->from + range->count;
	}
	owe(l, wave, from, l->n_places);
}

static void missing_note(struct delivery *l, const Evspace__Answer *a, const Evspace__Missing *m,
			 const struct delivery_times *times)
{
	struct delivery_leaf *leaf = m->leaf < l->n_places ? l->places[m->leaf] : NULL;

	if (!leaf)
		return;
	/* Ask a late leaf again, but not if it is late twice. Answers may come in another
	 * order: an older one says nothing about now. */
	if (a->again || (m->why != MISSING_LATE && !has_come_since(l, leaf, a->wave))) {
		leaf->back = false;
		delivery_note(l, leaf);
	}
	if (!a->again && never_asked(m, times))
		interval_set_remove(&leaf->owed, a->wave, a->wave + 1);
}

static void leaf_settle(struct delivery_leaf *leaf, uint64_t wave)
{
	interval_set_remove(&leaf->owed, wave, wave + 1);
	leaf->back = true;
}

/* Of leaves that are not noted there is nothing to change. */
static void entry_settle(struct delivery *l, const struct delivery_entry *e)
{
	if (e->leaf)
		leaf_settle(e->leaf, e->wave);
	for (size_t i = 0; i < l->n_noted && e->n_leaves > 0; i++) {
		if (delivery_entry_has(e, l->noted[i]))
			leaf_settle(l->noted[i], e->wave);
	}
}

void delivery_settle(struct delivery *l, const Evspace__Answer *a,
		     const struct delivery_times *times)
{
	for (size_t i = 0; i < l->n_entries; i++) {
		if (l->entries[i].is_new)
			recent_add(l, &l->entries[i]);
	}
	if (!a->again)
		others_owe(l, a->wave);
	for (size_t i = 0; i < a->n_missing; i++)
		missing_note(l, a, a->missing[i], times);
	for (size_t i = 0; i < l->n_entries; i++) {
		if (l->entries[i].is_new)
			entry_settle(l, &l->entries[i]);
	}
}
