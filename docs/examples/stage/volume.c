/* SPDX-License-Identifier: BSD-3-Clause */
/* The least that a stage can be: one number, the bytes of all messages of its group. */
#include "evspace-stage.h"

static size_t volume_take(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	uint64_t *words = stage->host->record(stage, 0);

	for (size_t i = 0; i < run->count; i++)
		words[0] += run->tuples[i].bytes;
	return run->count;
}

static void volume_merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
{
	(void)stage;
	to[0] += from[0];
}

const struct evspace_stage_table evspace_stage = {
	EVSPACE_STAGE_HEAD,  .kind = "volume",	    .words = 1,
	.take = volume_take, .merge = volume_merge,
};
