/* SPDX-License-Identifier: BSD-3-Clause */
/* A view as the application map defines it: which elements, how they are read, what is done. */
#ifndef EVSPACE_VIEW_H
#define EVSPACE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** The levels of a view, from the elements up. A stage at a level folds what lies below it. */
enum level {
	LEVEL_ELEMENT, /* every element by itself: /cluster/node/rank/thread/channel */
	LEVEL_THREAD,  /* one thread of the program: /cluster/node/rank/thread */
	LEVEL_NODE,    /* one node: /cluster/node */
	LEVEL_CLUSTER, /* one cluster: /cluster */
	LEVEL_ALL,     /* the whole event space: / */
	LEVEL_COUNT,
};

/** How a source reads: of elements the newest tuple or all since (docs/architecture.md), or what
 * classes of operations have counted so far. */
enum reading { READ_LATEST, READ_STREAM, READ_COUNTS, READ_COUNT };

/** What maps, predictions and flow control know of a stage; each kind says it in its own table
 * (tree/stage/stage.h). */
struct stage_traits {
	bool keeps;	/* every tuple passes */
	bool counts;	/* it takes what `read counts` reads, and nothing else */
	double records; /* that it makes for each thing of its level; 0: no map says how many */
	double bytes;	/* of each of those, with its share of their header */
};

/**
 * Checks one stage of a view, since a pathmap does not know which stage kinds exist: called with
 * the kind ("reduce") and its arguments ("last"). Returns 0 and what it is in @traits (may be
 * NULL), or -1 with what would be right in @e.
 */
typedef int pathmap_stage_check(const char *kind, const char *args, struct stage_traits *traits,
				struct error *e);

/** One stage of a view: a kind ("reduce"), its arguments ("last"), and its level. */
struct plan_stage {
	enum level level;
	char *kind;
	char *args;
	struct stage_traits traits; /* zeroed where no pathmap_stage_check was asked */
};

/** The level's keyword in a view ("element", "thread", "node", "cluster", "all"). */
const char *level_name(enum level level);

/** The reading's keyword in a view ("latest", "stream", "counts"). */
const char *reading_name(enum reading reading);

/** What a view takes over from another. */
struct view_use {
	char *view;
	size_t offset; /* of that name in the map */
	size_t before; /* it stands before this one of the view's own stages */
};

/** One view. */
struct view {
	char *name;
	char **select; /* patterns */
	size_t n_select;
	bool has_reading;
	enum reading reading;
	struct plan_stage *stages; /* lowest level first */
	size_t n_stages;
	size_t offset;	       /* of its name in the map */
	bool shipped;	       /* not from the map */
	bool quiet;	       /* shipped, and shown only when it is asked for */
	struct view_use *uses; /* until view_resolve() */
	size_t n_uses;
	enum { VIEW_RAW, VIEW_RESOLVING, VIEW_RESOLVED } state; /* of uses */
};

/** A view that selects and does nothing yet. */
struct view *view_new(const char *name);

/** Free a view. NULL is fine. */
void view_free(struct view *view);

/** Add a pattern, copied, to those that select. */
void view_select(struct view *view, const char *pattern);

/** Add a stage, all of it copied, behind the others. */
void view_stage(struct view *view, enum level level, const char *kind, const char *args,
		const struct stage_traits *traits);

/** Say that the view uses another, between the stages that are there and those that will come. */
void view_use(struct view *view, const char *name, size_t offset);

/** Could the view read elements whose names begin with the parts of @prefix? */
bool view_reaches(const struct view *view, const char *prefix);

#endif
