/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages by kind, their instances, and chains of them. */
#include "tree/stage/stage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/grammar/directive.h"
#include "tree/data/span.h"

#define KIND(kind) &kind##_ops,

static const struct stage_ops *const kinds[] = {STAGE_TABLE(KIND)};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct stage_ops *stage_find(const char *kind)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(kinds[i]->name, kind) == 0)
			return kinds[i];
	return NULL;
}

static const struct stage_ops *stage_find_or_say(const char *kind, struct error *e)
{
	const struct stage_ops *ops = stage_find(kind);
	const char *all[KINDS], *nearest;
	char names[128] = "";

	if (ops)
		return ops;
	for (size_t i = 0; i < KINDS; i++)
		all[i] = kinds[i]->name;
	errno = EINVAL;
	nearest = word_nearest(kind, all, KINDS);
	if (nearest) {
		errorf(e, "there is no stage \"%.60s\"; did you mean \"%s\"?", kind, nearest);
		return NULL;
	}
	for (size_t i = 0; i < KINDS; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i == 0		 ? ""
			 : i < KINDS - 1 ? ", "
					 : " and ",
			 all[i]);
	errorf(e, "there is no stage \"%.60s\"; there are %s", kind, names);
	return NULL;
}

int stage_check(const char *kind, const char *args, struct stage_traits *traits, struct error *e)
{
	const struct stage_ops *ops = stage_find_or_say(kind, e);
	struct stage *s = ops ? stage_new(ops, LEVEL_ELEMENT, NULL, args, e) : NULL;

	if (!s)
		return -1;
	if (traits)
		*traits = s->traits;
	stage_free(s);
	return 0;
}

struct stage *stage_new(const struct stage_ops *ops, enum level level, struct names *names,
			const char *args, struct error *e)
{
	struct stage *s = memory_new(1, sizeof(*s) + ops->size);

	s->ops = ops;
	s->traits = ops->traits;
	s->level = level;
	s->names = names;
	if (ops->init(s, args ? args : "", e) < 0) {
		stage_free(s);
		errno = EINVAL;
		return NULL;
	}
	return s;
}

void stage_free(struct stage *s)
{
	if (!s)
		return;
	if (s->ops->fini)
		s->ops->fini(s);
	free(s);
}

int chain_init(struct chain *chain, const struct plan_stage *list, size_t n, struct names *names,
	       struct error *e)
{
	*chain = (struct chain){.stages = memory_new(n, sizeof(*chain->stages))};
	for (size_t i = 0; i < n; i++) {
		const struct plan_stage *wanted = &list[i];
		const struct stage_ops *ops = stage_find_or_say(wanted->kind, e);
		struct stage *s =
			ops ? stage_new(ops, wanted->level, names, wanted->args, e) : NULL;

		if (!s) {
			error_prefix(e, "stage \"%s %s\"", wanted->kind,
				     wanted->args ? wanted->args : "");
			chain_fini(chain);
			errno = EINVAL;
			return -1;
		}
		chain->stages[chain->n++] = s;
	}
	return 0;
}

void chain_fini(struct chain *chain)
{
	if (!chain)
		return;
	for (size_t i = 0; i < chain->n; i++)
		stage_free(chain->stages[i]);
	free(chain->stages);
	*chain = (struct chain){0};
}

int chain_apply(struct chain *chain, const struct ask *ask, struct batch *b)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct stage *s = chain->stages[i];
		uint64_t since = span_since(chain->span);

		if (s->ops->apply(s, ask, b) < 0)
			return -1;
		span_write(chain->span, &(struct trace){.op = s->ops->op,
							.since_ns = since,
							.bytes = b->bytes,
							.peer = (int32_t)i,
							.wave = ask->wave});
	}
	return 0;
}
