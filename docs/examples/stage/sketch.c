/* SPDX-License-Identifier: BSD-3-Clause */
/* A stage of one's own: how many bytes were sent to each peer, as a count-min sketch of fixed size,
 * however many peers there are. `sketch [COUNTERS]`, by default 64 in each of 4 rows. */
#include "evspace-stage.h"

#include <stdio.h>
#include <stdlib.h>

#include "sketch.h"

/* init() has called it good: that many counters in a row. */
static int sketch_init(struct evspace_stage *stage, const char *args, char *why, size_t n)
{
	char *end = NULL;
	unsigned long counters = *args ? strtoul(args, &end, 10) : 64;

	if (counters < 2 || counters > SKETCH_MOST || (end && *end)) {
		snprintf(why, n, "`%s` is no number of counters; write 2 to %u, or nothing (64)",
			 args, SKETCH_MOST);
		return -1;
	}
	stage->words = SKETCH_HEAD + SKETCH_ROWS * (unsigned)counters;
	return 0;
}

/* What has no peer, or is under way, is filtered: the result is how many tuples were taken. */
static size_t sketch_take(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	uint64_t *sketch = stage->host->record(stage, 0);
	unsigned counters = (stage->words - SKETCH_HEAD) / SKETCH_ROWS;
	size_t taken = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct evspace_tuple *t = &run->tuples[i];

		if (t->peer < 0 || t->flags & EVSPACE_STAGE_RUNNING)
			continue;
		for (unsigned row = 0; row < SKETCH_ROWS; row++)
			sketch[sketch_at(row, t->peer, counters)] += t->bytes;
		sketch[0]++;
		sketch[1] += t->bytes;
		taken++;
	}
	return taken;
}

static int sketch_sound(const struct evspace_stage *stage, const uint64_t *sketch)
{
	(void)stage;
	return sketch[0] > 0 || sketch[1] == 0;
}

static void sketch_merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
{
	for (unsigned i = 0; i < stage->words; i++)
		to[i] += from[i];
}

const struct evspace_stage_table evspace_stage = {
	EVSPACE_STAGE_HEAD,    .kind = "sketch",    .words = SKETCH_HEAD + SKETCH_ROWS * 64,
	.init = sketch_init,   .take = sketch_take, .sound = sketch_sound,
	.merge = sketch_merge,
};
