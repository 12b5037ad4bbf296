/* SPDX-License-Identifier: BSD-3-Clause */
/* A ration: how many lines may be said of one thing, so that what goes wrong over and over does not
 * fill a log. */
#ifndef EVSPACE_RATION_H
#define EVSPACE_RATION_H

#include <stdbool.h>
#include <stdint.h>

/** All zero at first. */
struct ration {
	unsigned spent;
	uint64_t since_ns;    /* CLOCK_MONOTONIC, from which on lines have been earned back */
	unsigned long unsaid; /* lines that were not said since the last one that was */
};

/**
 * May one more line be said? Ten at once may, then one more each minute. Those that may not are
 * counted; *@unsaid is how many were not said before this one.
 */
bool ration_take(struct ration *r, unsigned long *unsaid);

#endif
