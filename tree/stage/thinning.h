/* SPDX-License-Identifier: BSD-3-Clause */
/* Thinning: which tuples of an element tell something that those before them did not, by the
 * entropy of a window (tree/data/entropy-window.h). */
#ifndef EVSPACE_THINNING_H
#define EVSPACE_THINNING_H

#include "pathmap/base/error.h"
#include "tree/data/batch.h"
#include "tree/data/names.h"

/** Runs of an element that can be asked for again: as many as waves that a cursor file keeps. */
#define THINNING_WAVES 64u

/** For elements beyond as many as there is memory for, only the last few are known:
 * THINNING_WINDOWS are for all together, 2 MB. */
#define THINNING_LEAST	 4u
#define THINNING_WINDOWS 131072u

/** Elements with windows that reach from wave to wave. Others begin with each run anew. */
#define THINNING_ELEMENTS 65536u

struct thinning;

/** By the arguments of `filter entropy` (sampling_parse()). Returns NULL with what is valid in
 * @e. */
struct thinning *thinning_new(const char *args, struct error *e);
void thinning_free(struct thinning *thinning);

/**
 * Set in @keep (of view->run->count) which tuples are kept: those whose S is above the threshold,
 * and the last one before each change in the run, as the first and the last of a segment tell most.
 * Returns how many.
 *
 * Windows are kept by the number of the tuple that a run begins with, for the last THINNING_WAVES
 * runs of an element; so a wave that is asked for again gets what it got.
 */
uint32_t thinning_choose(struct thinning *thinning, const struct names *names,
			 const struct run_view *view, bool *keep);

#endif
