/* SPDX-License-Identifier: BSD-3-Clause */
/* A question: what scopes must have in common to share a trunk
 * (docs/decisions/0029-same-question-one-tree.md). */
#ifndef EVSPACE_QUESTION_H
#define EVSPACE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/plan/plan.h"
#include "tree/wire/wire.h"

/** Plain data; empty if zeroed. */
struct question_packed {
	unsigned char *data;
	size_t bytes;
};

/** The question of @open at @place; empty if it cannot be shared. Free with question_fini(). */
struct question_packed question_of(const Evspace__Open *open, const struct plan_place *place);
void question_fini(struct question_packed *q);

/** Can it be shared? */
bool question_is(const struct question_packed *q);

bool question_same(const struct question_packed *a, const struct question_packed *b);

#endif
