/* SPDX-License-Identifier: BSD-3-Clause */
/* Waves as text, so that tests of stages can be read: batches from text and back. */
#ifndef EVSPACE_TESTS_WAVE_H
#define EVSPACE_TESTS_WAVE_H

#include <stdio.h>

#include "tree/data/batch.h"
#include "tree/data/names.h"

/*
 * A line each; what is 0 may be left out:
 *
 *   part LEAF WAVE clock=BASE_NS,BASE_TICKS,NS_PER_TICK,ERROR_NS read=N lost=N filtered=N reduced=N
 *                  elements=N cpu=N                          (without a clock: ticks are
 * nanoseconds) mark PLACE WAVE ...                                      (the same; see struct part)
 *   run NAME FIRST lost=N sparse
 *   OP START END bytes=N peer=N tag=N comm=HEX running completion
 *   totals NAME                                              (a NAME that is unknown: /?ID)
 *   total count=N sum=N mean=F m2=F min=N max=N op=OP comm=HEX FIGURE of VALUE
 */

/**
 * Read the lines of @text up to its end into @b. Names get ids of the leaf whose part they follow,
 * in order of appearance, and are learnt by @names. Returns 0, or -1 after a note on what it does
 * not understand.
 */
int wave_read(const char *text, struct names *names, struct batch *b);

/** wave_print() into a text that the caller frees. */
char *wave_text(const struct batch *b, const struct names *names);

#endif
