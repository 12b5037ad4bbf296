/* SPDX-License-Identifier: BSD-3-Clause */
/* The application map: the program's threads, what is collected of them, and its views. */
#ifndef EVSPACE_APPLICATION_H
#define EVSPACE_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/pathmap.h"
#include "pathmap/plan.h"
#include "pathmap/source.h"

/** Tuples that an element holds unless the map says otherwise (the paper's discard threshold). */
#define CAPACITY_DEFAULT 200u
/** The bounds of what it may say: one slot is always in the making; 64 Mi tuples are 2.5 GiB. */
#define CAPACITY_LEAST 2u
#define CAPACITY_MOST  (1u << 26)

/** The channels that a map can name, in this order in the arrays below. */
#define APPLICATION_CHANNELS 6

/** One view: which elements, how they are read, and what is done with them at which level. */
struct view {
	char *name;
	char **select;
	size_t n_select;
	bool has_reading;
	enum reading reading;
	struct plan_stage *stages; /* by level, lowest first */
	size_t n_stages;
	size_t offset; /* of its name in the map, to complain of it later */
	bool shipped;  /* not from the map */
};

struct application {
	char *name;
	bool has_ranks; /* the map said which ranks there are, and it could be understood */
	unsigned ranks; /* 0: left open */
	unsigned capacity;
	bool collected[APPLICATION_CHANNELS];
	unsigned capacities[APPLICATION_CHANNELS];
	struct view **views;
	size_t n_views;
};

/** Make an application of the map in @source; what is wrong is complained of. */
void application_read(struct application *application, const struct source *source,
		      pathmap_stage_check *check, struct complaints *complaints);

/** Make one that leaves everything open, with the shipped views. */
void application_init(struct application *application, const char *name);

/** Free what it owns. */
void application_fini(struct application *application);

/** The view with this name, or NULL. */
const struct view *application_view(const struct application *application, const char *name);

/** The number of the channel with this name, or -1. */
int application_channel(const char *name);

#endif
