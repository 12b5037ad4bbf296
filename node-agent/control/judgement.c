/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whom to believe that a map cannot be. */
#include "node-agent/control/judgement.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/source/source.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

struct judged {
	UT_hash_handle hh;
	char *node;
	bool was;     /* it is not ready in the old trees */
	bool missing; /* it is noted as such */
	bool placed;  /* it is in the tree by the old map */
	bool kept;    /* ... reached by way of such alone that the new map has */
};

static struct judged *judged_of(struct judgement *j, const char *node)
{
	struct judged *n;

	HASH_FIND_STR(j->nodes, node, n);
	if (n)
		return n;
	n = memory_new(1, sizeof(*n));
	n->node = memory_copy(node);
	HASH_ADD_KEYPTR(hh, j->nodes, n->node, strlen(n->node), n);
	return n;
}

/* Only the first is told. */
static void fault_note(struct judgement_fault *f, const char *what, const struct unready *who)
{
	if (f->node)
		return;
	*f = (struct judgement_fault){memory_copy(who->node), memory_copy(who->text), what};
}

static void missing_note(struct judgement *j, const struct unready *who)
{
	struct judged *n = judged_of(j, who->node);
	Evspace__Unready *u;

	if (n->missing)
		return;
	n->missing = true;
	u = memory_new(1, sizeof(*u));
	evspace__unready__init(u);
	u->node = memory_copy(who->node);
	u->text = memory_copy(who->text);
	u->code = who->code;
	j->missing = memory_room(j->missing, j->n_missing, sizeof(*j->missing));
	j->missing[j->n_missing++] = u;
}

/* Walk the old tree, once for all who are asked for. */
static void kept_mark(struct judgement *j)
{
	bool kept[PLAN_DEPTH];

	PLAN_FOREACH (walk, j->before) {
		struct judged *n = judged_of(j, walk.place->node);

		kept[walk.depth] = (walk.depth == 0 || kept[walk.depth - 1]) &&
				   pathmap_cluster(j->map, walk.place->node);
		/* of several places the first counts */
		if (!n->placed)
			n->kept = kept[walk.depth];
		n->placed = true;
	}
	j->marked = true;
}

/* Is it reached by way of such alone that the new map has? */
static bool is_kept(struct judgement *j, const char *node)
{
	if (!j->marked)
		kept_mark(j);
	return judged_of(j, node)->kept;
}

void judgement_was(void *judgement, const struct unready *who)
{
	struct judgement *j = judgement;

	judged_of(j, who->node)->was = true;
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

void judgement_after(void *judgement, const struct unready *who)
{
	struct judgement *j = judgement;
	bool was = judged_of(j, who->node)->was;

	if (who->code == SOURCE_ELSEWHERE || (who->code && !was))
		fault_note(&j->refused, "", who);
	else if (!was)
		fault_note(&j->absent, " does not answer", who);
	if (was)
		missing_note(j, who);
}

void judgement_fini(struct judgement *j)
{
	struct judged *n, *next;

	HASH_ITER(hh, j->nodes, n, next)
	{
		HASH_DEL(j->nodes, n);
		free(n->node);
		free(n);
	}
	for (size_t i = 0; i < j->n_missing; i++)
		evspace__unready__free_unpacked(j->missing[i], NULL);
	free(j->missing);
	free(j->refused.node);
	free(j->refused.text);
	free(j->absent.node);
	free(j->absent.text);
	*j = (struct judgement){.before = NULL};
}
