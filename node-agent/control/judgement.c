/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whom to believe that a map cannot be. */
#include "node-agent/control/judgement.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/source/source.h"
#include "pathmap/base/memory.h"

/* Only the first is told. */
static void fault_note(struct judgement_fault *f, const char *what, const struct unready *who)
{
	if (f->node)
		return;
	*f = (struct judgement_fault){memory_copy(who->node), memory_copy(who->text), what};
}

static void missing_note(struct judgement *j, const struct unready *who)
{
	Evspace__Unready *u;

	for (size_t i = 0; i < j->n_missing; i++) {
		if (strcmp(j->missing[i]->node, who->node) == 0)
			return;
	}
	u = memory_new(1, sizeof(*u));
	evspace__unready__init(u);
	u->node = memory_copy(who->node);
	u->text = memory_copy(who->text);
	u->code = who->code;
	j->missing = memory_room(j->missing, j->n_missing, sizeof(*j->missing));
	j->missing[j->n_missing++] = u;
}

/* Is it reached by way of such alone that the new map has? */
static bool is_kept(const struct judgement *j, const char *node)
{
	PLAN_FOREACH (walk, j->before) {
		if (strcmp(walk.place->node, node) != 0)
			continue;
		for (size_t i = 0; i <= walk.depth; i++) {
			if (!pathmap_cluster(j->map, walk.way[i]->node))
				return false;
		}
		return true;
	}
	return false;
}

void judgement_was(void *judgement, const struct unready *who)
{
	struct judgement *j = judgement;

	j->was = memory_room(j->was, j->n_was, sizeof(*j->was));
	j->was[j->n_was++] = memory_copy(who->node);
}

void judgement_before(void *judgement, const struct unready *who)
{
	struct judgement *j = judgement;

	judgement_was(j, who);
	if (who->code != SOURCE_ELSEWHERE)
		return;
	if (is_kept(j, who->node))
		fault_note(&j->refused, "", who);
	else
		missing_note(j, who);
}

static bool was_unready(const struct judgement *j, const char *node)
{
	for (size_t i = 0; i < j->n_was; i++) {
		if (strcmp(j->was[i], node) == 0)
			return true;
	}
	return false;
}

void judgement_after(void *judgement, const struct unready *who)
{
	struct judgement *j = judgement;
	bool was = was_unready(j, who->node);

	if (who->code == SOURCE_ELSEWHERE || (who->code && !was))
		fault_note(&j->refused, "", who);
	else if (!was)
		fault_note(&j->absent, " does not answer", who);
	if (was)
		missing_note(j, who);
}

void judgement_fini(struct judgement *j)
{
	for (size_t i = 0; i < j->n_was; i++)
		free(j->was[i]);
	free(j->was);
	for (size_t i = 0; i < j->n_missing; i++)
		evspace__unready__free_unpacked(j->missing[i], NULL);
	free(j->missing);
	free(j->refused.node);
	free(j->refused.text);
	free(j->absent.node);
	free(j->absent.text);
	*j = (struct judgement){.before = NULL};
}
