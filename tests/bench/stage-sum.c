/* SPDX-License-Identifier: BSD-3-Clause */
/* What `reduce sum of bytes` does, as a stage from out of tree; with BY_OP, `by op`, too. */
#include "tree/stage/evspace-stage.h"

#include "tree/data/total.h"

#ifdef BY_OP
#define KEY_WORDS 1
#else
#define KEY_WORDS 0
#endif

static struct total *total_in(uint64_t *record)
{
	return (struct total *)(void *)(record + KEY_WORDS);
}

static size_t sum_take(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	struct total *total = NULL;
	uint16_t last = 0;
	size_t taken = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct evspace_tuple *t = &run->tuples[i];
		uint16_t op = KEY_WORDS ? t->op : 0;

		if (t->flags & EVSPACE_STAGE_RUNNING)
			continue;
		if (!total || op != last)
			total = total_in(stage->host->record(stage, op));
		last = op;
		total_add(total, t->bytes);
		taken++;
	}
	return taken;
}

static void sum_merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
{
	(void)stage;
	total_merge(to + KEY_WORDS, from + KEY_WORDS);
}

const struct evspace_stage_table evspace_stage = {
	EVSPACE_STAGE_HEAD,
	.kind = "sum",
	.words = KEY_WORDS + sizeof(struct total) / sizeof(uint64_t),
	.keyed = KEY_WORDS,
	.take = sum_take,
	.merge = sum_merge,
};
