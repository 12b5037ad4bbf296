/* SPDX-License-Identifier: BSD-3-Clause */
/* When tuples of programs' elements were written, in Unix time. */
#ifndef EVSPACE_PASTSET_CLOCK_H
#define EVSPACE_PASTSET_CLOCK_H

#include <stdbool.h>

#include "node-agent/pastset/pastset-layout.h"

/** From an element's ticks to time. */
struct pastset_clock {
	bool known;		/* it was made since this host has booted */
	struct clock_pair late; /* the newer end of: */
	struct clock_line line;
};

/** Begin, for the element with the checked header @said. */
void pastset_clock_init(struct pastset_clock *clock, const struct pastset_header *said);

/** Unix time of @ticks as of the element's making, with later steps of the clock left out; 0: not
 * known. */
int64_t pastset_clock_ns(struct pastset_clock *clock, const struct pastset_header *said,
			 uint64_t ticks);

#endif
