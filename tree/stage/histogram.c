/* SPDX-License-Identifier: BSD-3-Clause */
/* Histogram: the distribution of durations or sizes, in log-linear bins that merge exactly. */
#include "tree/stage/histogram.h"

#include <string.h>

/* Most bytes of an argument: the longest has 8. */
#define WORD_BYTES 16

static inline struct histogram *histogram_of(struct stage *s)
{
	return (struct histogram *)(void *)s->private;
}

int histogram_init(struct stage *s, const char *args, struct error *e)
{
	struct histogram *h = histogram_of(s);
	const char *rest = args;
	char word[WORD_BYTES], what[WORD_BYTES];

	while (fold_word(&rest, word, sizeof(word))) {
		bool of = strcmp(word, "of") == 0, by = strcmp(word, "by") == 0;

		if (!fold_word(&rest, what, sizeof(what)))
			what[0] = '\0';
		if (of && total_value_find(what) >= 0)
			fold_about(s, h->value = (enum total_value)total_value_find(what));
		else if (!by || !fold_by(what, &h->by_op, &h->by_comm))
			return errorf(
				e,
				"`%s %.60s` is not understood; write `%s`, then `of duration` or "
				"`of bytes`, `by op`, `by comm` as wanted",
				s->ops->name, args, s->ops->name);
	}
	if (h->by_op)
		s->traits.records *= STAGE_CLASSES;
	return 0;
}

void histogram_fini(struct stage *s)
{
	fold_fini(fold_of(s));
}

/* Without `by`, drop the key's operation and communicator. The value stays as it is. */
void histogram_key(struct stage *s, void *record, uint32_t name, uint64_t key[2])
{
	struct histogram *h = histogram_of(s);
	struct bin *bin = record;

	if (!h->by_op)
		bin->op = 0;
	if (!h->by_comm)
		bin->comm = 0;
	group_key_of(key, name, bin->comm, (uint64_t)bin->op << 16 | bin->slot);
}

void histogram_take(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct histogram *h = histogram_of(s);
	struct part *part = fold_part(&h->fold);

	for (unsigned i = 0; i < view->run->count; i++) {
		const struct tuple *t = &view->tuples[i];
		uint64_t value = t->bytes, key[2];
		struct median one = {.all = 0};

		if (t->flags & TUPLE_RUNNING ||
		    (h->value == TOTAL_DURATION && !tuple_duration(t, &part->clock, &value))) {
			part->filtered++;
			continue;
		}
		one.bin = (struct bin){
			.count = 1,
			.sum = value,
			.most = value,
			.comm = t->comm,
			.op = t->op,
			.slot = (uint16_t)(h->value * BIN_COUNT + bin_number(value)),
		};
		histogram_key(s, &one, name, key);
		fold_put(&h->fold, s->traits.makes, key, &one);
		part->reduced++;
	}
}

static const struct fold_ops bin_ops = {
	.tuples = histogram_take,
	.key = histogram_key,
};

static int histogram_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	return fold_apply(s, &bin_ops, ask, b);
}

const struct stage_ops histogram_ops = {
	.name = "histogram",
	.op = OP_EVSPACE_HISTOGRAM,
	.traits = {.folds = true, .makes = RUN_BINS, .records = HISTOGRAM_BINS, .bytes = 34},
	.size = sizeof(struct histogram),
	.init = histogram_init,
	.apply = histogram_apply,
	.fini = histogram_fini,
};
