/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages that are wrong, each in its own way: -DPAST, -DREFUSES, -DANOTHER, -DWHILE='"FILE"' (as
 * long as the file is there), or without a table. */
#include <evspace-stage.h>

#include <stdio.h>
#include <unistd.h>

#ifdef PAST
#define WORDS 4
#else
#define WORDS 5
#endif

#ifdef REFUSES
static int refuses(struct evspace_stage *stage, const char *args, char *why, size_t n)
{
	(void)stage;
	snprintf(why, n, "no `%s` \a today", args);
	return -1;
}
#endif

#if defined(PAST) || defined(REFUSES) || defined(ANOTHER) || defined(WHILE)
static size_t take(struct evspace_stage *stage, const struct evspace_stage_run *run)
{
	stage->host->record(stage, 0)[4] = run->count;
#ifdef WHILE
	if (access(WHILE, F_OK) == 0)
		return run->count + 1;
#endif
	return run->count;
}

static void merge(struct evspace_stage *stage, uint64_t *to, const uint64_t *from)
{
	(void)stage;
	to[0] += from[0];
}

const struct evspace_stage_table evspace_stage = {
#ifdef ANOTHER
	EVSPACE_STAGE_INTERFACE + 1,
	sizeof(struct evspace_stage_table),
#else
	EVSPACE_STAGE_HEAD,
#endif
	.kind = "bad",
	.words = WORDS,
#ifdef REFUSES
	.init = refuses,
#endif
	.take = take,
	.merge = merge,
};
#endif
