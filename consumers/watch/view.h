/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of evspace view: what it shows, and the kinds of figures. */
#ifndef EVSPACE_CONSUMERS_VIEW_H
#define EVSPACE_CONSUMERS_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "consumers/watch/follow.h"

/** What is shown, and how. */
struct viewer {
	struct follower follow;
	const char *level;
	char *view; /* its name for the agent */
	bool sum;   /* of all waves */
	bool bars;
	uint64_t top; /* lines of a table, 0: all */
	bool redraw;
	bool waits;	   /* there is something to show */
	bool fresh;	   /* the figures were shown: waves add up anew */
	uint64_t shown;	   /* waves shown, or seen to be empty */
	uint64_t drawn;	   /* waves printed */
	uint64_t shown_ns; /* when the last one was */
};

/** A kind of figures. Its state is in its own file, as there is one viewer. */
struct figure {
	/* Take those in the wave. Returns how many records. */
	size_t (*take)(const struct viewer *v);
	bool adds; /* adds waves up until they are shown, so that not each must be */
	/* Show the state after this wave. */
	void (*text)(const struct viewer *v, FILE *out);
	void (*json)(const struct viewer *v, FILE *out);
	void (*fini)(void);
};

extern const struct figure figure_bins;	    /* view-bins.c */
extern const struct figure figure_medians;  /* view-medians.c */
extern const struct figure figure_cells;    /* view-cells.c */
extern const struct figure figure_meetings; /* view-meetings.c */
extern const struct figure figure_classes;  /* view-classes.c */
extern const struct figure figure_foreign;  /* view-foreign.c */

/** Is line @shown, from 0, of a table of @n shown? */
bool viewer_shows(const struct viewer *v, size_t shown, size_t n);

/** After a table of @n lines, say that there are more than were shown, if so. */
void viewer_more(const struct viewer *v, size_t n, FILE *out);

#endif
