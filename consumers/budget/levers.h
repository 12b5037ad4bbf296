/* SPDX-License-Identifier: BSD-3-Clause */
/* The levers that change what looking costs: one table, of what each costs and gives. */
#ifndef EVSPACE_LEVERS_H
#define EVSPACE_LEVERS_H

#include <stdbool.h>

/** In the order in which they are thought of where the budget is too small. */
enum lever { LEVER_RATE, LEVER_WINDOW, LEVER_URGENCY, LEVER_ONE_IN, LEVER_CLASSES, LEVER_COUNT };

/** One of them. */
struct lever_row {
	const char *name;
	const char *costs, *gives; /* of a move that spends less */
	const char *how;	   /* whose move it is, or the command that makes it */
	double least, most;
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
