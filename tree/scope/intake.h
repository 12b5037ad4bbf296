/* SPDX-License-Identifier: BSD-3-Clause */
/* Intake: before a scope's source is read for a wave, it copies all new data, some in each turn of
 * the loop. */
#ifndef EVSPACE_INTAKE_H
#define EVSPACE_INTAKE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "tree/scope/gather.h"
#include "tree/scope/scope-shared.h"
#include "tree/data/turn.h"

struct intake_wave;

/** Plain data, part of the scope; what it points to outlives it. */
struct intake {
	struct turns *turns;
	struct scope_shared *scope_shared; /* has the source */
	const struct plan_place *place;
	uint64_t generation; /* of the place's map */
	struct gather *gather;
	size_t input; /* index in the gather, for waves that wait */
	/* `begun`: all is copied for the first time; `read`: read the wave now */
	void (*begun)(void *arg);
	void (*read)(void *arg, const struct ask *ask, struct wave *w);
	void *arg;
	/* internal: */
	struct turn turn;
	bool has_begun;
	TAILQ_HEAD(, intake_wave) waves; /* waiting, in the order in which they were asked for */
};

/** Begin to copy, from the loop. */
void intake_begin(struct intake *r);

/** Safe on zeroed data. */
void intake_fini(struct intake *r);

/** Read @w for the ask @asked, now or when all is copied; then the gather is told. */
void intake_ask(struct intake *r, const Evspace__Ask *asked, struct wave *w);

/** It is late: if @w still waits for the source, note its leaf as missing. */
void intake_late(struct intake *r, struct wave *w);

#endif
