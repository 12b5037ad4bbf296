/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce: folds tuples by their group at the stage's level: first, last, or figures. */
#include "tree/stage/stage.h"

#include <string.h>

#include "tree/data/op.h"
#include "tree/stage/field-reduce.h"
#include "tree/stage/fold.h"

/* Most bytes of an argument, and one more: a field's name is the longest. */
#define WORD_BYTES (FIELDS_NAME + 1)

enum reduce_kind { REDUCE_TOTAL, REDUCE_FIRST, REDUCE_LAST, REDUCE_FIELD };

struct reduce {
	struct fold fold;
	enum reduce_kind kind;
	enum total_fold figure;
	enum total_value value;
	bool by_op, by_comm, by_block, by_label;
	struct field_figure like; /* of a field of typed tuples */
};

static inline struct reduce *reduce_of(struct stage *s)
{
	return (struct reduce *)(void *)s->private;
}

/* ---- arguments ---- */

static int reduce_complain(const char *args, struct error *e)
{
	return errorf(e,
		      "`reduce%s%.60s` is not understood; write `reduce first`, `reduce last`, or "
		      "`reduce` with "
		      "count, sum, min, max, mean or variance, then `of duration` or `of bytes`, "
		      "`by op`, `by comm`, `by label` or `by block` as wanted; of elements of "
		      "programs "
		      "`of field NAME`",
		      *args ? " " : "", args);
}

static int reduce_option(struct stage *s, const char *word, const char *what)
{
	struct reduce *r = reduce_of(s);

	if (strcmp(word, "of") == 0 && total_value_find(what) >= 0)
		fold_about(s, r->value = (enum total_value)total_value_find(what));
	else if (strcmp(word, "by") == 0 && strcmp(what, "block") == 0)
		r->by_op = r->by_block = true;
	else if (strcmp(word, "by") == 0 && strcmp(what, "label") == 0)
		r->by_op = r->by_label = true;
	else if (strcmp(word, "by") != 0 || !fold_by(what, &r->by_op, &r->by_comm))
		return -1;
	return 0;
}

/* "of field NAME". Returns 1, 0: it says something else, or -1: it is not understood. */
static int reduce_field(struct stage *s, const char *rest)
{
	struct reduce *r = reduce_of(s);
	char name[WORD_BYTES], more[WORD_BYTES];

	if (!fold_word(&rest, more, sizeof(more)) || strcmp(more, "of") != 0 ||
	    !fold_word(&rest, more, sizeof(more)) || strcmp(more, "field") != 0)
		return 0;
	if (!fold_word(&rest, name, sizeof(name)) || fold_word(&rest, more, sizeof(more)) ||
	    strlen(name) >= sizeof(r->like.field))
		return -1;
	r->kind = REDUCE_FIELD;
	r->like.fold = (uint8_t)r->figure;
	memcpy(r->like.field, name, strlen(name));
	s->traits.makes = RUN_FIGURES;
	s->traits.of = "fields";
	s->traits.bytes = sizeof(struct field_figure) + sizeof(struct run);
	return 1;
}

static int reduce_init(struct stage *s, const char *args, struct error *e)
{
	struct reduce *r = reduce_of(s);
	const char *rest = args;
	char word[WORD_BYTES], what[WORD_BYTES];
	int rc;

	if (!fold_word(&rest, word, sizeof(word)))
		return reduce_complain(args, e);
	r->kind = strcmp(word, "first") == 0  ? REDUCE_FIRST
		  : strcmp(word, "last") == 0 ? REDUCE_LAST
					      : REDUCE_TOTAL;
	if (r->kind == REDUCE_TOTAL) {
		if (total_fold_find(word) < 0)
			return reduce_complain(args, e);
		r->figure = (enum total_fold)total_fold_find(word);
	}
	if (r->kind == REDUCE_TOTAL && (rc = reduce_field(s, rest)) != 0)
		return rc > 0 ? 0 : reduce_complain(args, e);
	while (fold_word(&rest, word, sizeof(word))) {
		if (r->kind != REDUCE_TOTAL || !fold_word(&rest, what, sizeof(what)) ||
		    reduce_option(s, word, what) < 0)
			return reduce_complain(args, e);
	}
	if (r->by_block && (r->by_comm || r->by_label || r->figure != FOLD_COUNT))
		return reduce_complain(args, e);
	if (r->kind != REDUCE_TOTAL)
		s->traits.makes = RUN_TUPLES;
	if (r->by_op)
		s->traits.records *= STAGE_CLASSES;
	return 0;
}

static void reduce_fini(struct stage *s)
{
	fold_fini(fold_of(s));
}

/* ---- first and last ---- */

/* Times that are equal need an order that is the same in every tree, in ticks and in ns. */
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

/* The time that a tuple is from: of a running one its start, as its thread wrote all others
 * before. */
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
	struct parts *parts = &r->fold.parts;
	struct groups *groups = &r->fold.groups;
	struct part_item *items = parts->items;
	uint32_t part = (uint32_t)parts->n - 1;
	uint64_t key[2];
	struct group *g;
	unsigned i = 0;
	bool is_new;

	group_key(key, name, NULL);
	/* regions do not compete with the operations in them */
	key[1] = view->tuples[0].flags & TUPLE_REGION;
	/* elements of one thread mostly follow each other */
	g = groups->n ? &groups->items[groups->n - 1] : NULL;
	is_new = false;
	if (!g || g->key[0] != key[0] || g->key[1] != key[1])
		g = groups_at(groups, key, &is_new);
	for (; i < view->run->count; i++) {
		struct tuple tuple = view->tuples[i];

		if (parts->mixed)
			tuple_to_ns(&tuple, &items[part].part.clock);
		if (!is_new && !(r->kind == REDUCE_LAST ? is_newer(&tuple, &g->tuple)
							: is_older(&tuple, &g->tuple))) {
			items[part].part.reduced++;
			continue;
		}
		if (!is_new)
			items[g->part].part.reduced++;
		is_new = false;
		g->tuple = tuple;
		g->number = run_number(view->run, i);
		g->part = part;
	}
}

/* The first part with another clock follows: convert the tuples chosen so far, on the common clock,
 * to nanoseconds. */
static void chosen_to_ns(struct stage *s)
{
	struct fold *fold = fold_of(s);

	for (size_t i = 0; i < fold->groups.n; i++)
		tuple_to_ns(&fold->groups.items[i].tuple, &fold->parts.line);
}

/* ---- figures ---- */

static struct total *total_of(struct reduce *r, uint32_t name, const struct total *like)
{
	uint64_t key[2];
	struct group *g;
	bool is_new;

	group_key(key, name, like);
	g = groups_at(&r->fold.groups, key, &is_new);
	if (is_new)
		g->total = *like;
	return &g->total;
}

/* The block that a process is in since this tuple, beside its operation: what the program says
 * (evspace_block()), or 1 while it is in a call, 0 behind it. */
static uint32_t block_of(const struct tuple *t)
{
	return t->op == OP_EVSPACE_STATE ? t->seq_or_tag : (t->flags & TUPLE_RUNNING) != 0;
}

/* What there is a total for beside its operation: regions and phases have no communicator. */
static uint32_t beside(const struct reduce *r, const struct tuple *t)
{
	if (r->by_block)
		return block_of(t);
	if (r->by_label && op_is_labelled(t->op))
		return t->seq_or_tag;
	return r->by_comm ? t->comm : 0;
}

static void sum_tuples(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct reduce *r = reduce_of(s);
	struct part *part = fold_part(&r->fold);
	struct total like = {.value = (uint8_t)r->value, .fold = (uint8_t)r->figure};
	struct total *total = NULL;

	for (unsigned i = 0; i < view->run->count; i++) {
		const struct tuple *t = &view->tuples[i];
		uint16_t op = r->by_op ? t->op : 0;
		uint32_t comm = beside(r, t);
		uint64_t value = t->bytes;

		if (r->by_block) {
			value = 0;
		} else if (t->flags & TUPLE_RUNNING || (r->value == TOTAL_DURATION &&
							!tuple_duration(t, &part->clock, &value))) {
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

/* Without `by`, drop the key's operation and communicator. The value stays as it is. */
static void total_key(struct stage *s, void *record, uint32_t name, uint64_t key[2])
{
	struct reduce *r = reduce_of(s);
	struct total *total = record;

	if (!r->by_op)
		total->op = 0;
	if (!r->by_comm && !r->by_block && !(r->by_label && op_is_labelled(total->op)))
		total->comm = 0;
	if (total->value == r->value)
		total->fold = (uint8_t)r->figure;
	group_key(key, name, total);
}

/* ---- waves ---- */

static void take_chosen(struct stage *s, const struct run_view *view, uint32_t name)
{
	choose(reduce_of(s), view, name);
}

static int emit_chosen(struct stage *s)
{
	struct fold *fold = fold_of(s);

	for (size_t *i = &fold->done.out; *i < fold->groups.n; ++*i) {
		const struct group *g = &fold->groups.items[*i];
		struct tuple *out;

		if (stage_over(s, 1))
			return 1;
		out = batch_add(&fold->out, RUN_TUPLES, group_name(g), g->number, 1, 0);
		*out = g->tuple;
	}
	return 0;
}

static const struct fold_ops choose_ops = {
	.tuples = take_chosen,
	.mixed = chosen_to_ns,
	.emit = emit_chosen,
};

static const struct fold_ops sum_ops = {
	.tuples = sum_tuples,
	.key = total_key,
};

static int field_run(struct stage *s, const struct run_view *view, uint32_t name)
{
	return field_reduce_run(s, view, name, &reduce_of(s)->like);
}

static const struct fold_ops field_ops = {
	.run = field_run,
};

static int reduce_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	static const struct fold_ops *const kinds[] = {
		[REDUCE_TOTAL] = &sum_ops,
		[REDUCE_FIRST] = &choose_ops,
		[REDUCE_LAST] = &choose_ops,
		[REDUCE_FIELD] = &field_ops,
	};

	return fold_apply(s, kinds[reduce_of(s)->kind], ask, b);
}

const struct stage_ops reduce_ops = {
	.name = "reduce",
	.op = OP_EVSPACE_REDUCE,
	.traits = {.folds = true, .makes = RUN_TOTALS, .records = 1, .bytes = 72},
	.size = sizeof(struct reduce),
	.init = reduce_init,
	.apply = reduce_apply,
	.fini = reduce_fini,
};
