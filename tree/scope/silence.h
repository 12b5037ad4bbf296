/* SPDX-License-Identifier: BSD-3-Clause */
/* Silence: why an agent that owes an answer says nothing. One that waits for a core is late, not
 * dead (docs/decisions/0031-urgency-by-scope.md). */
#ifndef EVSPACE_SILENCE_H
#define EVSPACE_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

/** How long a starved child may owe an answer until others take over its part, in ms. */
#define SILENCE_STARVED_MS 5000u

/** What it is. Only those that are SILENCE_STARVED or later are waited for. */
enum silence {
	SILENCE_CUT,	 /* its host acknowledges nothing: it is cut off, or off */
	SILENCE_STOPPED, /* by a signal */
	SILENCE_HUNG,	 /* it neither runs nor wants to, or that cannot be seen */
	SILENCE_STARVED, /* it wants to run, and gets no core */
	SILENCE_MEEK,	 /* its host is there, it cannot be seen, but answers on idle cores only */
};

/** What can be seen of it. */
struct silence_signs {
	bool acknowledged; /* by its host's kernel, what was sent to it */
	char state;	   /* of proc(5), '?': cannot be seen */
	bool meek;	   /* it is to answer, or said that it does, on idle cores only */
};

enum silence silence_judge(const struct silence_signs *signs);

/** Is it only late, so that it is waited for? */
bool silence_is_late(enum silence silence);

/** In words that complete "late for 1.2 s: ". */
const char *silence_words(enum silence silence);

#endif
