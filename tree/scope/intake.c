/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies a source's new data in turns of the loop, and keeps the waves that wait for that. */
#include "tree/scope/intake.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/scope/ask.h"

/* the only way to a source */
#define WAY_SOURCE 1u

struct intake_wave {
	TAILQ_ENTRY(intake_wave) entry;
	struct ask ask;
};

static void waiting_free(struct intake *r, struct intake_wave *waiting)
{
	TAILQ_REMOVE(&r->waves, waiting, entry);
	free(waiting);
}

static void intake_follow_map(struct intake *r, const struct ask *ask)
{
	if (ask && !ask->again)
		scope_shared_turn(r->scope_shared, r->generation, r->place);
}

/* Can the wave of @ask be read at once? */
static bool intake_ready(struct intake *r, const struct ask *ask)
{
	struct stage *source = r->scope_shared->source;

	intake_follow_map(r, ask);
	return !source->ops->take || source->ops->ready(source);
}

/* Copy some for the wave of @ask. Returns whether that is all; if not, it goes on in another
 * turn. */
static bool intake_take(struct intake *r, const struct ask *ask)
{
	struct stage *source = r->scope_shared->source;

	intake_follow_map(r, ask);
	if (source->ops->take && !source->ops->take(source)) {
		turn_ask(r->turns, &r->turn);
		return false;
	}
	if (!r->has_begun) {
		r->has_begun = true;
		r->begun(r->arg);
	}
	return true;
}

static void intake_go(void *arg)
{
	struct intake *r = arg;
	struct intake_wave *first = TAILQ_FIRST(&r->waves);
	struct wave *w;
	struct ask ask;

	if (!intake_take(r, first ? &first->ask : NULL) || !first)
		return;
	ask = first->ask;
	waiting_free(r, first);
	if (!TAILQ_EMPTY(&r->waves))
		turn_ask(r->turns, &r->turn);
	w = gather_waiting(r->gather, ask.wave, ask.again, r->input, WAY_SOURCE);
	if (!w)
		return;
	r->read(r->arg, &ask, w);
	gather_answered(r->gather, w, r->input);
}

void intake_begin(struct intake *r)
{
	r->turn.go = intake_go;
	r->turn.arg = r;
	TAILQ_INIT(&r->waves);
	turn_ask(r->turns, &r->turn);
}

void intake_fini(struct intake *r)
{
	struct intake_wave *waiting;

	if (!r->turns)
		return;
	turn_drop(r->turns, &r->turn);
	while ((waiting = TAILQ_FIRST(&r->waves)))
		waiting_free(r, waiting);
}

void intake_ask(struct intake *r, const Evspace__Ask *asked, struct wave *w)
{
	const struct ask ask = {
		.wave = w->number,
		.have = ask_have(asked, r->place->index),
		.room = asked->room,
		.again = w->again,
	};
	struct intake_wave *waiting;

	/* waves are read in order, and those that need a turn wait for it */
	if (r->has_begun && TAILQ_EMPTY(&r->waves) && intake_ready(r, &ask)) {
		r->read(r->arg, &ask, w);
		return;
	}
	waiting = memory_new(1, sizeof(*waiting));
	waiting->ask = ask;
	TAILQ_INSERT_TAIL(&r->waves, waiting, entry);
	gather_expect(r->gather, w, r->input, WAY_SOURCE);
	turn_ask(r->turns, &r->turn);
}

void intake_late(struct intake *r, struct wave *w)
{
	struct intake_wave *waiting;

	TAILQ_FOREACH (waiting, &r->waves, entry) {
		if (waiting->ask.wave == w->number && (waiting->ask.again != 0) == w->again)
			break;
	}
	if (!waiting)
		return;
	waiting_free(r, waiting);
	wave_miss(w, r->place->index, MISSING_LATE, w->asked_ns, NULL);
}
