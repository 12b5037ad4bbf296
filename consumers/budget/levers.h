/* SPDX-License-Identifier: BSD-3-Clause */
/* The levers that change what looking costs, and how far each goes. */
#ifndef EVSPACE_LEVERS_H
#define EVSPACE_LEVERS_H

#include <stdbool.h>

/** In the order in which they are thought of where the budget is too small. */
enum lever { LEVER_RATE, LEVER_WINDOW, LEVER_URGENCY, LEVER_ONE_IN, LEVER_COUNT };

/** How far one of them goes. */
struct lever_row {
	double least, most; /* waves a second, waves, 1 for idle, 1 in n */
};

extern const struct lever_row lever_rows[LEVER_COUNT];

/** Where they are. */
struct levers {
	double rate_hz;	   /* waves a second */
	unsigned window;   /* waves under way */
	unsigned halvings; /* of what is recorded: one event in 2^halvings */
	bool idle;	   /* agents only take what the program leaves over; false: as ever */
};

/** What has moved from @before to @now: a bit for each enum lever. */
unsigned levers_moved(const struct levers *before, const struct levers *now);

#endif
