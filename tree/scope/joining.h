/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining: what a wave's inputs have brought goes through the scope's joined stages, a part of it
 * in each turn of the loop. */
#ifndef EVSPACE_JOINING_H
#define EVSPACE_JOINING_H

#include <stdbool.h>

#include "tree/data/turn.h"
#include "tree/scope/gather.h"
#include "tree/stage/stage.h"

/** Plain data of the scope that owns it; what it says here outlives it. */
struct joining {
	struct turns *turns;
	struct gather *gather;
	struct names *names;
	uint32_t place;	    /* of the part that the scope is */
	bool folds, bare;   /* of waves that are asked for the first time; see struct ask */
	bool sampled;	    /* see there, too */
	struct chain chain; /* zeroed at first */
	/* The wave is through, and free when this returns; @whole: else a stage has failed, or the
	   wave's slot was needed before. */
	void (*joined)(void *arg, struct wave *w, bool whole);
	void *arg;
	/* its own */
	struct turn turn;
	uint64_t rest_ns;	  /* CLOCK_MONOTONIC: until then none is joined at once */
	TAILQ_HEAD(, wave) waves; /* that are not through, in the order in which they came */
};

/** Waves come from now on. */
void joining_begin(struct joining *j);

/** Safe on zeroed data. */
void joining_fini(struct joining *j);

/** Of struct gather_events: begin with @w, and end it at once if that is quick. When it is called
 * again for the same one, that must end now. */
void joining_take(struct joining *j, struct wave *w);

#endif
