/* SPDX-License-Identifier: BSD-3-Clause */
/* Intake: a scope's source is read for a wave once it has taken in all that there is, some
 * in each turn of the loop. */
#ifndef EVSPACE_INTAKE_H
#define EVSPACE_INTAKE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "tree/scope/gather.h"
#include "tree/scope/scope-shared.h"
#include "tree/data/turn.h"

struct intake_wave;

/** Plain data of the scope that owns it; what it says here outlives it. */
struct intake {
	struct turns *turns;
	struct scope_shared *scope_shared; /* has the source */
	const struct plan_place *place;
	uint64_t generation; /* of the map that the place is from */
	struct gather *gather;
	size_t input; /* of the gather's, for waves that wait */
	/* All is taken in for the first time; and read the wave now. */
	void (*begun)(void *arg);
	void (*read)(void *arg, const struct ask *ask, struct wave *w);
	void *arg;
	/* its own */
	struct turn turn;
	bool has_begun;
	TAILQ_HEAD(, intake_wave) waves; /* that wait, in the order in which they were asked for */
};

/** Begin to take in, from the loop. */
void intake_begin(struct intake *r);

/** Safe on zeroed data. */
void intake_fini(struct intake *r);

/** Read @w, for which @asked is: now, or when all is taken in; the gather is told that. */
void intake_ask(struct intake *r, const Evspace__Ask *asked, struct wave *w);

/** It is late: if @w waits for the source still, it lacks that leaf. */
void intake_late(struct intake *r, struct wave *w);

#endif
