/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce: folds tuples by what they belong to at the stage's level: first, last, or figures. */
#include "tree/stage.h"

#include <errno.h>
#include <string.h>

#include "tree/group.h"
#include "tree/part.h"

#define ARGS_BYTES 128

enum reduce_kind { REDUCE_TOTAL, REDUCE_FIRST, REDUCE_LAST };

struct reduce {
	enum reduce_kind kind;
	enum total_fold fold;
	enum total_value value;
	bool by_op, by_comm;
	struct parts parts; /* kept from wave to wave, like the tables below */
	struct groups groups;
	struct batch others; /* what is not folded: totals that pass first and last */
	struct batch out;
};

/* ---- arguments ---- */

static int reduce_complain(const char *args, struct error *e)
{
	return errorf(
		e,
		"`reduce %s` is unknown; write `reduce first`, `reduce last`, or `reduce` with "
		"count, sum, min, max, mean or variance, then `of duration` or `of bytes`, "
		"`by op`, `by comm` as wanted",
		args);
}

static int reduce_option(struct reduce *r, const char *word, const char *what)
{
	if (strcmp(word, "of") == 0 && total_value_find(what) >= 0)
		r->value = (enum total_value)total_value_find(what);
	else if (strcmp(word, "by") == 0 && strcmp(what, "op") == 0)
		r->by_op = true;
	else if (strcmp(word, "by") == 0 && strcmp(what, "comm") == 0)
		r->by_comm = true;
	else
		return -1;
	return 0;
}

static int reduce_init(struct stage *s, const char *args, struct error *e)
{
	struct reduce *r = (struct reduce *)(void *)s->private;
	char copy[ARGS_BYTES];
	char *rest, *word, *what;

	if (strlen(args) >= sizeof(copy))
		return reduce_complain("...", e);
	strcpy(copy, args);
	word = strtok_r(copy, " \t", &rest);
	if (!word)
		return reduce_complain(args, e);
	r->kind = strcmp(word, "first") == 0  ? REDUCE_FIRST
		  : strcmp(word, "last") == 0 ? REDUCE_LAST
					      : REDUCE_TOTAL;
	if (r->kind == REDUCE_TOTAL) {
		if (total_fold_find(word) < 0)
			return reduce_complain(args, e);
		r->fold = (enum total_fold)total_fold_find(word);
	}
	while ((word = strtok_r(NULL, " \t", &rest))) {
		what = strtok_r(NULL, " \t", &rest);
		if (r->kind != REDUCE_TOTAL || !what || reduce_option(r, word, what) < 0)
			return reduce_complain(args, e);
	}
	return 0;
}

static void reduce_fini(struct stage *s)
{
	struct reduce *r = (struct reduce *)(void *)s->private;

	parts_fini(&r->parts);
	groups_fini(&r->groups);
	batch_fini(&r->others);
	batch_fini(&r->out);
}

/* ---- first and last ---- */

/* Where times are equal any order will do that is the same in every tree, in ticks and in ns. */
static bool is_greater(const struct tuple *a, const struct tuple *b)
{
	const uint64_t x[] = {a->start,	     a->end,  a->bytes, (uint32_t)a->peer,
			      a->seq_or_tag, a->comm, a->op,	a->flags};
	const uint64_t y[] = {b->start,	     b->end,  b->bytes, (uint32_t)b->peer,
			      b->seq_or_tag, b->comm, b->op,	b->flags};
	size_t i = 0;

	while (i < sizeof(x) / sizeof(x[0]) - 1 && x[i] == y[i])
		i++;
	return x[i] > y[i];
}

/* When a tuple was last news: a running one since its start, its thread wrote all others before. */
static uint64_t news(const struct tuple *t)
{
	return t->end ? t->end : t->start;
}

static bool is_newer(const struct tuple *a, const struct tuple *b)
{
	int a_runs = a->flags & TUPLE_RUNNING, b_runs = b->flags & TUPLE_RUNNING;

	if (news(a) != news(b))
		return news(a) > news(b);
	if (a_runs != b_runs)
		return a_runs > b_runs;
	return is_greater(a, b);
}

static bool is_older(const struct tuple *a, const struct tuple *b)
{
	return a->start != b->start ? a->start < b->start : is_greater(b, a);
}

static void choose(struct reduce *r, const struct run_view *view, uint32_t name)
{
	const struct part_item *item = &r->parts.items[r->parts.n - 1];
	struct part_item *items = r->parts.items;
	uint32_t part = (uint32_t)r->parts.n - 1;
	uint64_t key[2];
	struct group *g;
	unsigned i = 0;
	bool is_new;

	group_key(key, name, NULL);
	/* An element has either regions or what is done in them, and these do not compete. */
	key[1] = view->tuples[0].flags & TUPLE_REGION;
	/* Elements of one thread mostly follow each other. */
	g = r->groups.n ? &r->groups.items[r->groups.n - 1] : NULL;
	is_new = false;
	if (!g || g->key[0] != key[0] || g->key[1] != key[1])
		g = groups_at(&r->groups, key, &is_new);
	for (; i < view->run->count; i++) {
		struct tuple tuple = view->tuples[i];

		if (r->parts.mixed)
			tuple_to_ns(&tuple, &item->part.clock);
		if (!is_new && !(r->kind == REDUCE_LAST ? is_newer(&tuple, &g->tuple)
							: is_older(&tuple, &g->tuple))) {
			items[part].part.reduced++;
			continue;
		}
		if (!is_new)
			items[g->part].part.reduced++;
		is_new = false;
		g->tuple = tuple;
		g->number = view->run->first + i;
		g->part = part;
	}
}

/* The first part with another clock has come: what was chosen so far is in ticks of the common one.
 */
static void chosen_to_ns(struct reduce *r)
{
	for (size_t i = 0; r->kind != REDUCE_TOTAL && i < r->groups.n; i++)
		tuple_to_ns(&r->groups.items[i].tuple, &r->parts.line);
}

/* ---- figures ---- */

static struct total *total_of(struct reduce *r, uint32_t name, const struct total *like)
{
	uint64_t key[2];
	struct group *g;
	bool is_new;

	group_key(key, name, like);
	g = groups_at(&r->groups, key, &is_new);
	if (is_new) {
		g->total.op = like->op;
		g->total.comm = like->comm;
		g->total.value = like->value;
		g->total.fold = like->fold;
	}
	return &g->total;
}

static void sum_tuples(struct reduce *r, const struct run_view *view, uint32_t name)
{
	struct part *part = &r->parts.items[r->parts.n - 1].part;
	struct total like = {.value = (uint8_t)r->value, .fold = (uint8_t)r->fold};
	struct total *total = NULL;

	for (unsigned i = 0; i < view->run->count; i++) {
		const struct tuple *t = &view->tuples[i];
		uint16_t op = r->by_op ? t->op : 0;
		uint32_t comm = r->by_comm ? t->comm : 0;
		uint64_t value = t->bytes;

		if (t->flags & TUPLE_RUNNING ||
		    (r->value == TOTAL_DURATION && !tuple_duration(t, &part->clock, &value))) {
			part->filtered++;
			continue;
		}
		if (!total || op != like.op || comm != like.comm) {
			like.op = op;
			like.comm = comm;
			total = total_of(r, name, &like);
		}
		total_add(total, value);
		part->reduced++;
	}
}

static void sum_totals(struct reduce *r, const struct run_view *view, uint32_t name)
{
	for (unsigned i = 0; i < view->run->count; i++) {
		struct total like = view->totals[i];

		/* Without `by` a total goes into that of all; another value stays what it is. */
		if (!r->by_op)
			like.op = 0;
		if (!r->by_comm)
			like.comm = 0;
		if (like.value == r->value)
			like.fold = (uint8_t)r->fold;
		total_merge(total_of(r, name, &like), &view->totals[i]);
	}
}

/* ---- waves ---- */

static int take(struct reduce *r, const struct stage *s, const struct batch *b)
{
	struct batch_cursor c = {0};
	struct run_view view;

	parts_reset(&r->parts);
	groups_reset(&r->groups);
	while (batch_next(b, &c, &view)) {
		uint32_t name;

		if (view.run->kind == RUN_PART) {
			if (parts_add(&r->parts, &view))
				chosen_to_ns(r);
			continue;
		}
		if (r->parts.n == 0) {
			errno = EPROTO;
			return -1;
		}
		if (view.run->count == 0)
			continue;
		/* A name that did not come yet stands for itself. */
		name = names_group(s->names, view.run->element, s->level);
		if (name == 0)
			name = view.run->element;
		if (view.run->kind == RUN_TUPLES && r->kind == REDUCE_TOTAL)
			sum_tuples(r, &view, name);
		else if (view.run->kind == RUN_TUPLES)
			choose(r, &view, name);
		else if (r->kind == REDUCE_TOTAL)
			sum_totals(r, &view, name);
		else
			batch_keep(&r->others, &view);
	}
	return 0;
}

static void emit_chosen(struct reduce *r)
{
	for (size_t i = 0; i < r->groups.n; i++) {
		const struct group *g = &r->groups.items[i];
		struct tuple *out = batch_add(&r->out, RUN_TUPLES, group_name(g), g->number, 1, 0);

		*out = g->tuple;
	}
}

/* Totals of one name that came one after the other are one run. */
static void emit_totals(struct reduce *r)
{
	const struct group *g = r->groups.items;
	uint32_t n;

	for (size_t at = 0; at < r->groups.n; at += n) {
		struct total *out;

		for (n = 1; at + n < r->groups.n && n < UINT16_MAX; n++)
			if (group_name(&g[at + n]) != group_name(&g[at]))
				break;
		out = batch_add(&r->out, RUN_TOTALS, group_name(&g[at]), 0, n, 0);
		for (uint32_t i = 0; i < n; i++)
			out[i] = g[at + i].total;
	}
}

static int reduce_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	struct reduce *r = (struct reduce *)(void *)s->private;

	if (take(r, s, b) < 0) {
		batch_clear(&r->others);
		return -1;
	}
	parts_emit(&r->parts, names_place(s->names), ask->wave, &r->out);
	if (r->kind == REDUCE_TOTAL)
		emit_totals(r);
	else
		emit_chosen(r);
	batch_link(&r->out, &r->others);
	batch_clear(b);
	batch_link(b, &r->out);
	return 0;
}

const struct stage_ops reduce_ops = {
	.name = "reduce",
	.size = sizeof(struct reduce),
	.init = reduce_init,
	.apply = reduce_apply,
	.fini = reduce_fini,
};
