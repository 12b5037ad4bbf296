/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages by kind, their instances, and chains of them. */
#include "config.h"

#include "tree/stage/stage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/grammar/directive.h"
#include "tree/data/span.h"
#include "tree/data/total.h"
#include "tree/stage/stage-object.h"

#define KIND(kind) &kind##_ops,

static const struct stage_ops *const kinds[] = {STAGE_TABLE(KIND)};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct stage_ops *stage_find(const char *kind)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(kinds[i]->name, kind) == 0)
			return kinds[i];
	return stage_object_find(kind);
}

/* What comes from below: the name of one. */
static const char *made(const struct stage_traits *below)
{
	if (below->foreign)
		return below->foreign;
	return run_records[below->counts ? RUN_COUNTS : below->makes].name;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Is only known elsewhere what it makes? */
static bool is_elsewhere(const struct stage_traits *traits)
{
	return traits->foreign && !*traits->foreign;
}

/* Does a stage of these traits do something with what one of @below makes? Records of a kind are
 * merged by those that make them. */
static bool takes(const struct stage_traits *traits, const struct stage_traits *below)
{
	if (is_elsewhere(traits) || is_elsewhere(below) || traits->passes)
		return true;
	return traits->counts == below->counts &&
	       (below->makes == RUN_TUPLES ||
		(traits->makes == below->makes && is_same(traits->foreign, below->foreign)) ||
		(traits->totals && below->makes == RUN_TOTALS));
}

/* Append "median, sort and convert", of the stages that take what one of @below makes; of all for
 * NULL. */
static void kinds_add(char *text, size_t size, const struct stage_traits *below)
{
	const char *list[KINDS];
	size_t n = 0;

	for (size_t i = 0; i < KINDS; i++)
		if (!below || (!kinds[i]->traits.passes && takes(&kinds[i]->traits, below)))
			list[n++] = kinds[i]->name;
	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%s",
			 i == 0	     ? ""
			 : i < n - 1 ? ", "
				     : " and ",
			 list[i]);
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
	kinds_add(names, sizeof(names), NULL);
	errorf(e, "there is no stage \"%.60s\"; there are %s", kind, names);
	return NULL;
}

int stage_check(const char *kind, const char *args, const struct stage_traits *below,
		struct stage_traits *traits, struct error *e)
{
	const struct stage_ops *ops;
	struct stage *s;
	const char *about, *other;
	char fits[128] = "";
	bool right;

	if (stage_object_is(kind) && !stage_object_find(kind)) {
		if (traits)
			*traits = (struct stage_traits){.foreign = ""};
		return 0;
	}
	ops = stage_find_or_say(kind, e);
	if (ops && !args)
		return 0;
	s = ops ? stage_new(ops, LEVEL_ELEMENT, NULL, args, e) : NULL;
	if (!s)
		return -1;
	right = !below || takes(&s->traits, below);
	if (below && s->traits.totals)
		s->traits.makes = below->makes;
	if (below && s->traits.passes) {
		s->traits.makes = below->makes;
		s->traits.counts = below->counts;
		s->traits.foreign = below->foreign;
	}
	about = right && below && below->makes != RUN_TUPLES ? below->of : NULL;
	other = about && s->traits.of && strcmp(about, s->traits.of) != 0 ? s->traits.of : NULL;
	if (about || !s->traits.of)
		s->traits.of = about ? about : total_value_name(TOTAL_DURATION);
	if (right && traits)
		*traits = s->traits;
	stage_free(s);
	if (other) {
		errno = EINVAL;
		return errorf(
			e,
			"`%s %.60s` gets %ss of %s, which say nothing of %s; write %s here, or "
			"%s there",
			kind, args, made(below), about, other, about, other);
	}
	if (right)
		return 0;
	kinds_add(fits, sizeof(fits), below);
	errno = EINVAL;
	if (!*fits)
		return errorf(e,
			      "`%s%s%.60s` does nothing with records of the kind %s; only the "
			      "stage that makes them takes them",
			      kind, args && *args ? " " : "", args ? args : "", made(below));
	return errorf(e, "`%s%s%.60s` does nothing with %ss; these stages take %ss: %s", kind,
		      args && *args ? " " : "", args ? args : "", made(below), made(below), fits);
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
		const struct stage_ops *ops = stage_find(wanted->kind);
		struct stage *s =
			ops ? stage_new(ops, wanted->level, names, wanted->args, e) : NULL;

		if (!s) {
			if (ops)
				error_prefix(e, "stage \"%s%s%s\"", wanted->kind,
					     wanted->args && *wanted->args ? " " : "",
					     wanted->args ? wanted->args : "");
			else if (stage_object_is(wanted->kind))
				stage_object_missing(wanted->kind, e);
			else
				errorf(e,
				       "this agent (release " PACKAGE_VERSION
				       ") has no stage \"%.60s\"; start it from the entry's "
				       "release, or leave the stage out",
				       wanted->kind);
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
	columns_turn_drop(&chain->columns);
	*chain = (struct chain){0};
}

/* A stage that has paused lets go of what it holds when the next wave begins: here an empty one. */
void chain_drop(struct chain *chain)
{
	struct stage *s = chain->at < chain->n ? chain->stages[chain->at] : NULL;
	struct batch empty;

	columns_turn_drop(&chain->columns);
	chain->at = 0;
	if (!s || !s->paused)
		return;
	s->paused = false;
	s->until_ns = 0;
	batch_init(&empty);
	(void)s->ops->apply(s, &(struct ask){0}, &empty);
	batch_fini(&empty);
}

int chain_apply(struct chain *chain, const struct ask *ask, struct batch *b, uint64_t until_ns)
{
	if (chain->failed) {
		errno = EPROTO;
		return -1;
	}
	if ((chain->opens || chain->n > 0) && columns_turn_open(b, &chain->columns, until_ns) > 0)
		return 1;
	for (; chain->at < chain->n; chain->at++) {
		struct stage *s = chain->stages[chain->at];
		int rc;

		if (!s->paused)
			chain->since_ns = span_since(chain->span);
		s->until_ns = until_ns;
		rc = s->ops->apply(s, ask, b);
		s->paused = rc > 0;
		if (rc < 0 && s->fault)
			chain->failed = s;
		if (rc < 0)
			chain_drop(chain);
		if (rc != 0)
			return rc;
		span_write(chain->span, &(struct trace){.op = s->ops->op,
							.since_ns = chain->since_ns,
							.bytes = b->bytes,
							.peer = (int32_t)chain->at,
							.wave = ask->wave});
	}
	if (chain->packs && columns_turn_pack(b, &chain->columns, until_ns) > 0)
		return 1;
	chain->at = 0;
	return 0;
}
