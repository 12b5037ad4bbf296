/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a program makes calls, by what its hosts have counted. Pure. */
#ifndef EVSPACE_FREQUENCY_H
#define EVSPACE_FREQUENCY_H

#include <stdint.h>

/** Looks so far. Zeroed: there was none. */
struct frequency {
	uint64_t hosts, calls, when_ns; /* of the first one that counts */
};

/** A look at what was counted since the program began. */
struct frequency_look {
	uint64_t hosts; /* which ones have answered: another number for others */
	uint64_t calls;
	unsigned processes;
	uint64_t when_ns; /* above 0 */
};

/** Take a look. Returns how many calls a process makes each second; 0: none since the first look,
 * or this is the first one at these hosts, as one was away, or is back with all that it has counted
 * meanwhile. */
double frequency_take(struct frequency *frequency, const struct frequency_look *look);

#endif
