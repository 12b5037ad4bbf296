/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts: adds up what classes of operations have counted (for views that read counts). */
#include "tree/stage/stage.h"

#include <string.h>

#include "tree/stage/fold.h"

/* Most bytes of an argument: the longest has 7. */
#define WORD_BYTES 16

struct counts {
	struct fold fold;
	bool by_channel, by_comm;
};

static inline struct counts *counts_of(struct stage *s)
{
	return (struct counts *)(void *)s->private;
}

static int counts_init(struct stage *s, const char *args, struct error *e)
{
	struct counts *c = counts_of(s);
	const char *rest = args;
	char word[WORD_BYTES], what[WORD_BYTES];

	while (fold_word(&rest, word, sizeof(word))) {
		bool by = strcmp(word, "by") == 0 && fold_word(&rest, what, sizeof(what));

		if (by && strcmp(what, "channel") == 0)
			c->by_channel = true;
		else if (by && strcmp(what, "comm") == 0)
			c->by_comm = true;
		else
			return errorf(e,
				      "`counts %.60s` is not understood; write `counts`, then `by "
				      "channel`, `by comm` as wanted",
				      args);
	}
	if (c->by_channel)
		s->traits.records *= STAGE_CLASSES;
	return 0;
}

static void counts_fini(struct stage *s)
{
	fold_fini(fold_of(s));
}

/* Ignore tuples: their class has counted them already. */
static void take_tuples(struct stage *s, const struct run_view *view, uint32_t name)
{
	(void)name;
	fold_part(fold_of(s))->filtered += view->run->count;
}

static void count_key(struct stage *s, void *record, uint32_t name, uint64_t key[2])
{
	struct counts *c = counts_of(s);
	struct count *count = record;

	if (!c->by_channel)
		count->channel = COUNT_ALL_CHANNELS;
	if (!c->by_comm)
		count->comm = 0;
	group_key_of(key, name, count->comm, count->channel);
}

static const struct fold_ops count_ops = {
	.tuples = take_tuples,
	.key = count_key,
};

static int counts_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	return fold_apply(s, &count_ops, ask, b);
}

const struct stage_ops counts_ops = {
	.name = "counts",
	.op = OP_EVSPACE_COUNTS,
	.traits = {.folds = true,
		   .counts = true,
		   .makes = RUN_COUNTS,
		   .records = STAGE_CLASSES,
		   .bytes = 56},
	.size = sizeof(struct counts),
	.init = counts_init,
	.apply = counts_apply,
	.fini = counts_fini,
};
