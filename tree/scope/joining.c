/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the waves that stages are not done with, and goes on with the first in turns of the loop:
 * how much a child brings is the child's choice. */
#include "tree/scope/joining.h"

#include "tree/data/clock.h"

/* Of these, any number may be joined in one turn of the loop. */
#define QUICK_NS (TURN_NS / 8)

/* What chain_apply() returns, of one turn. What is mixed in this part gets this part's names: those
 * above know who is in it. */
static int join(struct joining *j, struct wave *w)
{
	struct ask ask = {
		.wave = w->number,
		.have = w->have,
		.again = w->again,
		.folds = j->folds && !w->again,
		.bare = j->bare,
		.sampled = j->sampled,
	};

	names_place_set(j->names, j->place);
	return chain_apply(&j->chain, &ask, &w->batch, clock_mono_ns() + TURN_NS);
}

static void joining_go(void *arg)
{
	struct joining *j = arg;
	struct wave *w = TAILQ_FIRST(&j->waves);
	int rc = join(j, w);

	if (rc <= 0)
		TAILQ_REMOVE(&j->waves, w, entry);
	if (!TAILQ_EMPTY(&j->waves))
		turn_ask(j->turns, &j->turn);
	if (rc > 0)
		return;
	j->joined(j->arg, w, rc == 0);
	gather_end(j->gather, w);
}

void joining_begin(struct joining *j)
{
	j->turn.go = joining_go;
	j->turn.arg = j;
	TAILQ_INIT(&j->waves);
}

void joining_fini(struct joining *j)
{
	if (j->turns)
		turn_drop(j->turns, &j->turn);
	chain_fini(&j->chain);
}

/* What join() returns, or 1 if others come first: waves before it, or who has waited for one that
 * took long. Many waves may end in one turn of the loop. */
static int join_at_once(struct joining *j, struct wave *w)
{
	uint64_t begun = clock_mono_ns(), took;
	int rc;

	if (!TAILQ_EMPTY(&j->waves) || begun < j->rest_ns)
		return 1;
	rc = join(j, w);
	took = clock_mono_ns() - begun;
	j->rest_ns = took > QUICK_NS ? begun + 2 * took : 0;
	return rc;
}

void joining_take(struct joining *j, struct wave *w)
{
	int rc = -1;

	if (w->ending) {
		if (w == TAILQ_FIRST(&j->waves))
			chain_drop(&j->chain);
		TAILQ_REMOVE(&j->waves, w, entry);
		w->ending = false;
		if (TAILQ_EMPTY(&j->waves))
			turn_drop(j->turns, &j->turn);
	} else {
		rc = join_at_once(j, w);
	}
	if (rc <= 0) {
		j->joined(j->arg, w, rc == 0);
		return;
	}
	w->ending = true;
	TAILQ_INSERT_TAIL(&j->waves, w, entry);
	turn_ask(j->turns, &j->turn);
}
