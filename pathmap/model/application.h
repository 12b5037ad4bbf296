/* SPDX-License-Identifier: BSD-3-Clause */
/* The application map: the program's threads, what is collected of them, and its views. */
#ifndef EVSPACE_APPLICATION_H
#define EVSPACE_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/interval.h"
#include "pathmap/grammar/mapfile.h"
#include "pathmap/model/definable.h"
#include "pathmap/model/made.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/model/recording.h"
#include "pathmap/model/stage-alias.h"
#include "pathmap/model/view.h"

/** Most views of a map. */
#define VIEWS_MAX 256

/** What the map says. */
struct application {
	char *name;
	pathmap_stage_check *check; /* NULL: stages are not checked */
	unsigned ranks;		    /* 0: left open */
	bool incomplete; /* there were faults, so missing things may be their consequence */
	double budget;	 /* of the program's time, of all consumers together; 0: any */
	unsigned capacity;
	struct recording recordings[RECORDING_CHANNELS];
	struct element_rule *rules;
	size_t n_rules;
	struct interval_set only_ranks; /* that are collected; empty: all */
	unsigned only_threads;		/* of each rank, 0: all */
	bool only_said;			/* by a `collect` that was read */
	size_t only_offset;		/* of the last rank in the map */
	struct view **views;
	size_t n_views;
	struct definable definable;
	struct stage_aliases aliases;
	struct made_element *made;
	size_t n_made;
};

/** Make an application of the map in @source. Faults become diagnostics. */
void application_read(struct application *application, const struct mapfile *source,
		      pathmap_stage_check *check, struct diagnostics *diagnostics);

/** Make an application with all defaults and the shipped views. */
void application_init(struct application *application, const char *name,
		      pathmap_stage_check *check);

/** Free what it owns. */
void application_fini(struct application *application);

/** Free the elements that it has agents make. (made-read.c) */
void application_made_fini(struct application *application);

/** Fill in defaults, including the shipped views. */
void application_finish(struct application *application);

/** Add a view, and take it over. */
void application_add(struct application *application, struct view *view);

/** The view with this name, or NULL. */
const struct view *application_view(const struct application *application, const char *name);

/** The view for @name, which may be "NAME@LEVEL", or NULL; *@top becomes the last level to run. */
const struct view *application_view_to(const struct application *application, const char *name,
				       enum level *top);

/** Resolve `use` in all views: the used view's selection (if the view has none), reading, and
 * stages replace it. Missing views, circles, and views that do not fit become diagnostics. */
void application_resolve(struct application *application, const struct mapfile *source,
			 struct diagnostics *diagnostics);

/** The same for one view that is not among @application's, but may use these. */
void application_resolve_view(const struct application *application, struct view *view,
			      const struct mapfile *source, struct diagnostics *diagnostics);

/** The names of all views, in the map's order; the caller must free the array. */
const char **application_view_names(const struct application *application);

#endif
