/* SPDX-License-Identifier: BSD-3-Clause */
/* Histogram: how durations or sizes are distributed, in log-linear bins that merge exactly. */
#include "tree/stage/stage.h"

#include <string.h>

#include "tree/stage/fold.h"

/* The longest of the arguments has 8. */
#define WORD_BYTES 16

/* Bins that a histogram uses. */
#define BINS_USUAL 12.0

struct histogram {
	struct fold fold;
	enum total_value value;
	bool by_op, by_comm;
};

static inline struct histogram *histogram_of(struct stage *s)
{
	return (struct histogram *)(void *)s->private;
}

static int histogram_init(struct stage *s, const char *args, struct error *e)
{
	struct histogram *h = histogram_of(s);
	const char *rest = args;
	char word[WORD_BYTES], what[WORD_BYTES];

	while (fold_word(&rest, word, sizeof(word))) {
		bool of = strcmp(word, "of") == 0, by = strcmp(word, "by") == 0;

		if (!fold_word(&rest, what, sizeof(what)))
			what[0] = '\0';
		if (of && total_value_find(what) >= 0)
			h->value = (enum total_value)total_value_find(what);
		else if (!by || !fold_by(what, &h->by_op, &h->by_comm))
			return errorf(e,
				      "`histogram %.60s` is unknown; write `histogram`, then `of "
				      "duration` or `of bytes`, `by op`, `by comm` as wanted",
				      args);
	}
	if (h->by_op)
		s->traits.records *= STAGE_CLASSES;
	return 0;
}

static void histogram_fini(struct stage *s)
{
	fold_fini(fold_of(s));
}

/* The bin like @like under @name, empty if it is new. */
static struct bin *bin_at(struct fold *fold, uint32_t name, const struct bin *like)
{
	uint64_t key[2];
	struct group *g;
	bool is_new;

	group_key_of(key, name, like->comm, (uint64_t)like->op << 16 | like->slot);
	g = groups_at(&fold->groups, key, &is_new);
	if (is_new) {
		g->bin.comm = like->comm;
		g->bin.op = like->op;
		g->bin.slot = like->slot;
	}
	return &g->bin;
}

static void take_tuples(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct histogram *h = histogram_of(s);
	struct part *part = fold_part(&h->fold);

	for (unsigned i = 0; i < view->run->count; i++) {
		const struct tuple *t = &view->tuples[i];
		uint64_t value = t->bytes;
		struct bin one;

		if (t->flags & TUPLE_RUNNING ||
		    (h->value == TOTAL_DURATION && !tuple_duration(t, &part->clock, &value))) {
			part->filtered++;
			continue;
		}
		one = (struct bin){
			.count = 1,
			.sum = value,
			.most = value,
			.comm = h->by_comm ? t->comm : 0,
			.op = h->by_op ? t->op : 0,
			.slot = (uint16_t)(h->value * BIN_COUNT + bin_number(value)),
		};
		bin_merge(bin_at(&h->fold, name, &one), &one);
		part->reduced++;
	}
}

/* Without `by` a bin goes into that of all; another value stays what it is. */
static void take_bins(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct histogram *h = histogram_of(s);

	for (unsigned i = 0; i < view->run->count; i++) {
		struct bin like = view->bins[i];

		if (!h->by_op)
			like.op = 0;
		if (!h->by_comm)
			like.comm = 0;
		bin_merge(bin_at(&h->fold, name, &like), &view->bins[i]);
	}
}

static const struct fold_ops bin_ops = {
	.kind = RUN_BINS,
	.tuples = take_tuples,
	.records = take_bins,
};

static int histogram_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	return fold_apply(s, &bin_ops, ask, b);
}

const struct stage_ops histogram_ops = {
	.name = "histogram",
	.op = OP_EVSPACE_HISTOGRAM,
	.traits = {.records = BINS_USUAL, .bytes = 34},
	.size = sizeof(struct histogram),
	.init = histogram_init,
	.apply = histogram_apply,
	.fini = histogram_fini,
};
