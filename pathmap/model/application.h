/* SPDX-License-Identifier: BSD-3-Clause */
/* The application map: the program's threads, what is collected of them, and its views. */
#ifndef EVSPACE_APPLICATION_H
#define EVSPACE_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/grammar/mapfile.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/model/recording.h"
#include "pathmap/model/view.h"

/** Views that one map may have. */
#define VIEWS_MAX 256

/** What the map says. */
struct application {
	char *name;
	pathmap_stage_check *check; /* NULL: stages are not checked */
	unsigned ranks;		    /* 0: left open */
	bool incomplete; /* something was wrong: what is missing may be a consequence of that */
	unsigned capacity;
	struct recording recordings[RECORDING_CHANNELS];
	struct view **views;
	size_t n_views;
};

/** Make an application of the map in @source; what is wrong is complained of. */
void application_read(struct application *application, const struct mapfile *source,
		      pathmap_stage_check *check, struct diagnostics *diagnostics);

/** Make one that leaves everything open, with the shipped views. */
void application_init(struct application *application, const char *name);

/** Free what it owns. */
void application_fini(struct application *application);

/** Fill in what was left to defaults, the shipped views among it. */
void application_finish(struct application *application);

/** Add a view; the application owns it then. */
void application_add(struct application *application, struct view *view);

/** The view with this name, or NULL. */
const struct view *application_view(const struct application *application, const char *name);

/** The view that @name or "NAME@LEVEL" means, or NULL; *@top is the last level that is meant. */
const struct view *application_view_to(const struct application *application, const char *name,
				       enum level *top);

/**
 * Put what views use in the place of their `use`: selections, if a view has none of its own, the
 * reading, and stages. What does not exist, goes round, or does not fit is complained of.
 */
void application_resolve(struct application *application, const struct mapfile *source,
			 struct diagnostics *diagnostics);

/** The names of all views, in their order; the array is the caller's to free. */
const char **application_view_names(const struct application *application);

#endif
