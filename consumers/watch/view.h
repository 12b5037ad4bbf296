/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of evspace view: what it watches, and the kinds of figures that an answer may have. */
#ifndef EVSPACE_CONSUMERS_VIEW_H
#define EVSPACE_CONSUMERS_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "consumers/watch/follow.h"

/** What is watched, and how it is shown. */
struct viewer {
	struct follower follow;
	const char *level;
	char *view; /* as the agent is asked for it */
	bool sum;   /* of all waves */
	bool bars;
	uint64_t top; /* lines of a table, 0: all */
	bool redraw;
	bool waits;	   /* there is something to be shown */
	bool fresh;	   /* the figures were shown: what adds waves up begins anew */
	uint64_t shown;	   /* waves, or seen to be empty */
	uint64_t drawn;	   /* waves that were printed */
	uint64_t shown_ns; /* when the last one was */
};

/** A kind of figures. Its state is in its own file: there is one viewer. */
struct figure {
	/* Take in what the wave has of them. Returns how many records. */
	size_t (*take)(const struct viewer *v);
	bool adds; /* it adds waves up until they are shown: they need not be shown one by one */
	/* Show what there is after this wave. */
	void (*text)(const struct viewer *v, FILE *out);
	void (*json)(const struct viewer *v, FILE *out);
	void (*fini)(void);
};

extern const struct figure figure_bins;	   /* view-bins.c */
extern const struct figure figure_medians; /* view-medians.c */
extern const struct figure figure_cells;   /* view-cells.c */
extern const struct figure figure_classes; /* view-classes.c */

/** Is line @shown, from 0, of a table of @n still to be shown? */
bool viewer_shows(const struct viewer *v, size_t shown, size_t n);

/** Say behind a table of @n lines that there are more than were shown, if so. */
void viewer_more(const struct viewer *v, size_t n, FILE *out);

#endif
