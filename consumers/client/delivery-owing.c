/* SPDX-License-Identifier: BSD-3-Clause */
/* Which waves leaves owe, what to ask for again, and what is missing. */
#include "consumers/client/delivery-private.h"

#include "tree/data/names.h"

void delivery_forget(struct delivery *l, uint32_t element)
{
	intervals_forget(l->numbers, element);
}

enum intervals_known delivery_name(struct delivery *l, const struct name *name, bool renamed)
{
	return intervals_call(l->numbers, name->id, name->text, name->born, renamed);
}

static bool owes_nothing(void *arg, uint32_t element)
{
	const struct delivery *l = arg;
	const struct delivery_leaf *leaf = delivery_leaf_at(l, name_place(element));

	return !l->thinned && leaf && leaf->owed.n == 0 && leaf->sums.filtered == 0 &&
	       leaf->sums.reduced == 0;
}

uint64_t delivery_unaccounted(const struct delivery *l)
{
	return intervals_gaps(l->numbers, owes_nothing, (void *)(uintptr_t)l);
}

static bool owes_older(const struct delivery_leaf *leaf, uint64_t wave)
{
	return leaf->owed.n > 0 && leaf->owed.items[0].from < wave;
}

bool delivery_is_early(const struct delivery *l, const struct batch *batch)
{
	struct batch_cursor cursor = {0};
	struct run_view view;

	while (l->n_noted > 0 && batch_next_part(batch, &cursor, &view)) {
		struct delivery_entry e;

		if (view.run->flags & RUN_FOLD)
			continue;
		e = delivery_entry_of(l, batch, &cursor, &view);
		if (e.leaf && owes_older(e.leaf, e.wave))
			return true;
		for (size_t i = 0; i < l->n_noted && e.n_leaves > 0; i++) {
			if (owes_older(l->noted[i], e.wave) && delivery_entry_has(&e, l->noted[i]))
				return true;
		}
	}
	return false;
}

size_t delivery_owed(const struct delivery *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_noted; i++)
		n += l->noted[i]->owed.n > 0;
	return n;
}

size_t delivery_owing(const struct delivery *l, Evspace__Owing *owing)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_noted; i++) {
		const struct delivery_leaf *leaf = l->noted[i];

		if (leaf->owed.n == 0)
			continue;
		evspace__owing__init(&owing[n]);
		owing[n].leaf = leaf->index;
		owing[n].wave = leaf->owed.items[0].from;
		n++;
	}
	return n;
}

bool delivery_again(struct delivery *l, uint32_t most, struct delivery_again *again)
{
	uint64_t first = UINT64_MAX, end = UINT64_MAX;

	for (size_t i = 0; i < l->n_noted; i++) {
		const struct delivery_leaf *leaf = l->noted[i];

		if (leaf->back && leaf->owed.n && leaf->owed.items[0].from < first)
			first = leaf->owed.items[0].from;
	}
	if (first == UINT64_MAX)
		return false;
	*again = (struct delivery_again){.wave = first, .leaves = l->again};
	/* all leaves that owe the first one, as long as their set does not change */
	for (size_t i = 0; i < l->n_noted; i++) {
		const struct delivery_leaf *leaf = l->noted[i];

		if (!leaf->back || leaf->owed.n == 0)
			continue;
		if (leaf->owed.items[0].from > first) {
			end = leaf->owed.items[0].from < end ? leaf->owed.items[0].from : end;
			continue;
		}
		end = leaf->owed.items[0].to < end ? leaf->owed.items[0].to : end;
		again->leaves[again->n++] = leaf->index;
	}
	again->count = end - first < most ? (uint32_t)(end - first) : most;
	return true;
}

uint64_t delivery_unreadable(const struct delivery *l)
{
	uint64_t n = l->unnamed;

	for (size_t i = 0; i < l->n_noted; i++)
		n += l->noted[i]->unreadable;
	return n;
}
