/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through a wave once, gives its runs to the stage that folds them, and puts the results
 * together. */
#include "tree/stage/fold.h"

#include <errno.h>
#include <string.h>
#include <stdlib.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* ---- groups ---- */

#define FIRST_BITS 6

/* Begin a new wave. O(groups of the last one). */
static void groups_reset(struct groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		groups->index[groups->items[i].slot] = 0;
	groups->n = 0;
}

static void groups_fini(struct groups *groups)
{
	free(groups->items);
	free(groups->index);
	*groups = (struct groups){0};
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t find(const struct groups *groups, const uint64_t key[2])
{
	uint32_t mask = (UINT32_C(1) << groups->bits) - 1;
	/* unpredictable, since peers choose keys */
	uint32_t slot = hash_bytes(key, 2 * sizeof(*key)) & mask;

	while (groups->index[slot]) {
		const struct group *g = &groups->items[groups->index[slot] - 1];

		if (g->key[0] == key[0] && g->key[1] == key[1])
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

static void grow(struct groups *groups)
{
	groups->bits = groups->bits ? groups->bits + 1 : FIRST_BITS;
	free(groups->index);
	groups->index = memory_new((size_t)1 << groups->bits, sizeof(*groups->index));
	for (size_t i = 0; i < groups->n; i++) {
		struct group *g = &groups->items[i];

		g->slot = find(groups, g->key);
		groups->index[g->slot] = (uint32_t)i + 1;
	}
	/* half full at most */
	groups->room = (size_t)1 << (groups->bits - 1);
	groups->items = reallocarray(groups->items, groups->room, sizeof(*groups->items));
	if (!groups->items)
		abort();
}

struct group *groups_at(struct groups *groups, const uint64_t key[2], bool *is_new)
{
	struct group *g;
	uint32_t slot;

	if (groups->n == groups->room)
		grow(groups);
	slot = find(groups, key);
	*is_new = groups->index[slot] == 0;
	if (!*is_new)
		return &groups->items[groups->index[slot] - 1];
	g = &groups->items[groups->n++];
	*g = (struct group){.key = {key[0], key[1]}, .slot = slot};
	groups->index[slot] = (uint32_t)groups->n;
	return g;
}

/* ---- arguments ---- */

bool fold_word(const char **rest, char *word, size_t room)
{
	size_t length;

	*rest += strspn(*rest, " \t");
	length = strcspn(*rest, " \t");
	if (length == 0)
		return false;
	memset(word, 0, room);
	memcpy(word, *rest, length < room ? length : room - 1);
	*rest += length;
	return true;
}

bool fold_by(const char *word, bool *by_op, bool *by_comm)
{
	if (strcmp(word, "op") == 0)
		*by_op = true;
	else if (strcmp(word, "comm") == 0)
		*by_comm = true;
	else
		return false;
	return true;
}

/* ---- waves ---- */

void fold_fini(struct fold *fold)
{
	parts_fini(&fold->parts);
	groups_fini(&fold->groups);
	batch_fini(&fold->others);
	batch_fini(&fold->out);
}

void fold_put(struct fold *fold, enum run_kind kind, const uint64_t key[2], const void *record)
{
	bool is_new;
	struct group *g = groups_at(&fold->groups, key, &is_new);

	if (is_new)
		memcpy(g->record, record, run_records[kind].bytes);
	else
		run_records[kind].merge(g->record, record);
}

static void take_records(struct stage *s, const struct fold_ops *ops, const struct run_view *view,
			 uint32_t name)
{
	size_t bytes = run_record_bytes(s->traits.makes);

	for (unsigned i = 0; i < view->run->count; i++) {
		struct group g;

		memcpy(g.record, view->records + i * bytes, bytes);
		ops->key(s, g.record, name, g.key);
		fold_put(fold_of(s), s->traits.makes, g.key, g.record);
	}
}

static void take_run(struct stage *s, const struct fold_ops *ops, const struct run_view *view)
{
	/* a name that is not known yet is its own group */
	uint32_t name = names_group(s->names, view->run->element, s->level);

	if (name == 0)
		name = view->run->element;
	if (view->run->kind == RUN_TUPLES)
		ops->tuples(s, view, name);
	else if (view->run->kind == s->traits.makes)
		take_records(s, ops, view, name);
	else
		batch_keep(&fold_of(s)->others, view);
}

static int take(struct stage *s, const struct fold_ops *ops, const struct batch *b)
{
	struct fold *fold = fold_of(s);
	struct batch_cursor c = {0};
	struct run_view view;

	parts_reset(&fold->parts);
	groups_reset(&fold->groups);
	while (batch_next(b, &c, &view)) {
		if (view.run->kind == RUN_PART) {
			if (parts_add(&fold->parts, &view) && ops->mixed)
				ops->mixed(s);
			continue;
		}
		if (fold->parts.n == 0) {
			errno = EPROTO;
			return -1;
		}
		if (view.run->count > 0)
			take_run(s, ops, &view);
	}
	return 0;
}

/* Consecutive records of one name become one run. */
void fold_emit(struct fold *fold, enum run_kind kind)
{
	const struct group *g = fold->groups.items;
	size_t bytes = run_record_bytes(kind);
	uint32_t n;

	for (size_t at = 0; at < fold->groups.n; at += n) {
		unsigned char *out;

		for (n = 1; at + n < fold->groups.n && n < UINT16_MAX; n++)
			if (group_name(&g[at + n]) != group_name(&g[at]))
				break;
		out = batch_add(&fold->out, kind, group_name(&g[at]), 0, n, 0);
		for (uint32_t i = 0; i < n; i++)
			memcpy(out + i * bytes, g[at + i].record, bytes);
	}
}

int fold_apply(struct stage *s, const struct fold_ops *ops, const struct ask *ask, struct batch *b)
{
	struct fold *fold = fold_of(s);

	if (take(s, ops, b) < 0) {
		batch_clear(&fold->others);
		return -1;
	}
	parts_emit(&fold->parts, names_place(s->names), ask->wave, &fold->out);
	if (ops->emit)
		ops->emit(s);
	else
		fold_emit(fold, s->traits.makes);
	batch_link(&fold->out, &fold->others);
	batch_clear(b);
	batch_link(b, &fold->out);
	return 0;
}
