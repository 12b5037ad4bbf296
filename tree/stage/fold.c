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

/* Begin a new wave. */
static void groups_reset(struct groups *groups)
{
	if (groups->bits)
		memset(groups->index, 0, sizeof(*groups->index) << groups->bits);
	groups->n = 0;
}

static void groups_fini(struct groups *groups)
{
	free(groups->items);
	free(groups->index);
	*groups = (struct groups){0};
}

/* The slot of the key with this hash, or the free one where it belongs. */
static uint32_t find(const struct groups *groups, const uint64_t key[2], uint32_t hash)
{
	uint32_t mask = (UINT32_C(1) << groups->bits) - 1;
	uint32_t slot = hash & mask;

	while (groups->index[slot]) {
		const struct group *g = &groups->items[groups->index[slot] - 1];

		if (g->hash == hash && g->key[0] == key[0] && g->key[1] == key[1])
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

/* Double the table. Compares no keys, as all are different: with a million of them that would take
 * too long for one turn. */
static void grow(struct groups *groups)
{
	uint32_t mask;

	groups->bits = groups->bits ? groups->bits + 1 : FIRST_BITS;
	mask = (UINT32_C(1) << groups->bits) - 1;
	free(groups->index);
	groups->index = memory_new((size_t)1 << groups->bits, sizeof(*groups->index));
	for (size_t i = 0; i < groups->n; i++) {
		uint32_t slot = groups->items[i].hash & mask;

		while (groups->index[slot])
			slot = (slot + 1) & mask;
		groups->index[slot] = (uint32_t)i + 1;
	}
	/* half full at most */
	groups->room = (size_t)1 << (groups->bits - 1);
	groups->items = reallocarray(groups->items, groups->room, sizeof(*groups->items));
	if (!groups->items)
		abort();
}

struct group *groups_at(struct groups *groups, const uint64_t key[2], bool *is_new)
{
	struct group *g = groups->n > 0 ? &groups->items[groups->at] : NULL;
	uint32_t hash, slot;

	*is_new = false;
	if (g && groups->at < groups->n && g->key[0] == key[0] && g->key[1] == key[1])
		return g;
	hash = hash_bytes(key, 2 * sizeof(*key)); /* unpredictable, since peers choose keys */
	if (groups->n == groups->room)
		grow(groups);
	slot = find(groups, key, hash);
	*is_new = groups->index[slot] == 0;
	if (!*is_new) {
		groups->at = groups->index[slot] - 1;
		return &groups->items[groups->at];
	}
	groups->at = groups->n;
	g = &groups->items[groups->n++];
	*g = (struct group){.key = {key[0], key[1]}, .hash = hash};
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

static int take_records(struct stage *s, const struct fold_ops *ops, const struct run_view *view,
			uint32_t name)
{
	struct fold *fold = fold_of(s);
	size_t bytes = run_record_bytes(s->traits.makes);

	for (uint32_t *i = &fold->done.record; *i < view->run->count;) {
		struct group g;

		memcpy(g.record, view->records + *i * bytes, bytes);
		ops->key(s, g.record, name, g.key);
		fold_put(fold, s->traits.makes, g.key, g.record);
		if (++*i < view->run->count && stage_over(s, 1))
			return 1;
	}
	fold->done.record = 0;
	return 0;
}

static int take_run(struct stage *s, const struct fold_ops *ops, const struct run_view *view)
{
	struct fold_progress *done = &fold_of(s)->done;
	uint32_t name = done->name;

	/* a name that is not known yet is its own group, for all of the run */
	if (done->record == 0)
		name = names_group(s->names, view->run->element, s->level);
	if (name == 0)
		name = view->run->element;
	done->name = name;
	if (ops->run)
		return ops->run(s, view, name);
	if (view->run->kind == s->traits.makes && view->run->kind != RUN_TUPLES)
		return take_records(s, ops, view, name);
	if (view->run->kind == RUN_TUPLES)
		ops->tuples(s, view, name);
	else if (view->run->kind == RUN_TOTALS && ops->totals)
		ops->totals(s, view, name);
	else
		batch_keep(&fold_of(s)->others, view);
	return 0;
}

static void take_part(struct stage *s, const struct fold_ops *ops, const struct run_view *view)
{
	if (parts_add(&fold_of(s)->parts, view) && ops->mixed)
		ops->mixed(s);
}

/* How much work a run was that is taken in one go. */
static size_t run_steps(const struct run *run)
{
	return run->kind <= RUN_TOTALS || run->kind == RUN_TYPED ? run->count : 1;
}

/* Returns 0 when all is in, 1 or -1 as apply() does. */
static int take(struct stage *s, const struct fold_ops *ops, const struct batch *b)
{
	struct fold *fold = fold_of(s);
	struct run_view *view = &fold->done.view;
	int rc;

	while (fold->done.record || batch_next(b, &fold->done.next, view)) {
		if (view->run->kind == RUN_PART) {
			take_part(s, ops, view);
		} else if (parts_more(&fold->parts, view)) {
			continue;
		} else if (fold->parts.n == 0) {
			errno = EPROTO;
			return -1;
		} else if (view->run->count > 0 && (rc = take_run(s, ops, view)) != 0) {
			return rc;
		}
		if (stage_over(s, run_steps(view->run)))
			return 1;
	}
	return 0;
}

/* Consecutive records of one name become one run. */
int fold_emit(struct stage *s, enum run_kind kind)
{
	struct fold *fold = fold_of(s);
	const struct group *g = fold->groups.items;
	size_t bytes = run_record_bytes(kind);
	uint32_t n = 0;

	for (size_t *at = &fold->done.out; *at < fold->groups.n; *at += n) {
		unsigned char *out;

		if (stage_over(s, 1 + n))
			return 1;
		for (n = 1; *at + n < fold->groups.n && n < UINT16_MAX; n++)
			if (group_name(&g[*at + n]) != group_name(&g[*at]))
				break;
		out = batch_add(&fold->out, kind, group_name(&g[*at]), 0, n, 0);
		for (uint32_t i = 0; i < n; i++)
			memcpy(out + i * bytes, g[*at + i].record, bytes);
	}
	return 0;
}

static void fold_begin(struct fold *fold)
{
	parts_reset(&fold->parts);
	groups_reset(&fold->groups);
	batch_clear(&fold->others);
	batch_clear(&fold->out);
	memset(&fold->done, 0, sizeof(fold->done));
}

int fold_apply(struct stage *s, const struct fold_ops *ops, const struct ask *ask, struct batch *b)
{
	const struct parts_place place = {names_place(s->names), ask->wave, ask->folds, ask->bare};
	struct fold *fold = fold_of(s);
	int rc;

	if (!s->paused)
		fold_begin(fold);
	rc = fold->done.taken ? 0 : take(s, ops, b);
	if (rc < 0)
		batch_clear(&fold->others);
	if (rc != 0)
		return rc;
	if (!fold->done.taken)
		parts_emit(&fold->parts, &place, &fold->out);
	fold->done.taken = true;
	rc = ops->emit ? ops->emit(s) : fold_emit(s, s->traits.makes);
	if (rc != 0)
		return rc;
	batch_link(&fold->out, &fold->others);
	batch_clear(b);
	batch_link(b, &fold->out);
	if (fold->groups.room > STAGE_KEPT)
		groups_fini(&fold->groups);
	return 0;
}
