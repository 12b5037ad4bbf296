/* SPDX-License-Identifier: BSD-3-Clause */
/* A view of the application map: which elements it reads, how, and its stages. */
#ifndef EVSPACE_VIEW_H
#define EVSPACE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** Most stages of a view, with those of views that it uses; a host's part has no more
 * (WIRE_PLACE_STAGES). */
#define VIEW_STAGES_MAX 64u
/** Most views that one may name behind `use`. */
#define VIEW_USES_MAX 64u

/** The levels of a view, from the elements up. A stage has one result for each thing of its
 * level. */
enum level {
	LEVEL_ELEMENT, /* every element by itself: /cluster/node/rank/thread/channel */
	LEVEL_THREAD,  /* one thread of the program: /cluster/node/rank/thread */
	LEVEL_NODE,    /* one node: /cluster/node */
	LEVEL_CLUSTER, /* one cluster: /cluster */
	LEVEL_ALL,     /* the whole event space: / */
	LEVEL_COUNT,
};

/** What a source reads: the newest tuple of elements, all tuples since the last wave, or the
 * counts of classes (docs/architecture.md). */
enum reading { READ_LATEST, READ_STREAM, READ_COUNTS, READ_COUNT };

/** Properties of a stage, for maps, predictions and flow control, from the table of its kind
 * (tree/stage/stage.h). */
struct stage_traits {
	bool keeps;	/* it keeps all tuples */
	bool passes;	/* it passes on whatever comes */
	bool folds;	/* what it has made of parts it merges into what it makes of all */
	bool counts;	/* it takes only what `read counts` reads */
	unsigned makes; /* records of this kind (tree/data/run.h), which it takes from below, too;
			   0: tuples, and it takes nothing else, but for: */
	const char *foreign; /* which foreign records; "": only hosts that have the stage know what
				it makes, and takes; NULL: no stage of others */
	bool totals;	     /* it also takes totals, and makes totals of those */
	const char *of; /* "duration" or "bytes": what its records are about; of one that is not
			   checked yet what its arguments say, or NULL */
	double records; /* records for each thing of its level; 0: not known from maps */
	double bytes;	/* of each record, with its share of the header */
};

/**
 * Checks one stage of a view by its kind ("reduce") and arguments ("last"), since a pathmap does
 * not know which kinds exist: do they exist (without @args, NULL, that alone), and does it take
 * what a stage of traits @below makes (NULL: that is not asked)? Returns 0 and its traits in
 * @traits (may be NULL), or -1 with what would be right in @e.
 */
typedef int pathmap_stage_check(const char *kind, const char *args,
				const struct stage_traits *below, struct stage_traits *traits,
				struct error *e);

/** One stage of a view: a kind ("reduce"), its arguments ("last"), and its level. */
struct plan_stage {
	enum level level;
	char *kind;
	char *args;
	struct stage_traits traits; /* zero without a pathmap_stage_check */
	size_t offset;		    /* in the map, of its kind or of the `use` that it comes by */
};

/** The level's keyword in a view ("element", "thread", "node", "cluster", "all"). */
const char *level_name(enum level level);

/** The reading's keyword in a view ("latest", "stream", "counts"; with @sample "sample"). */
const char *reading_name(enum reading reading, const char *sample);

/** A `use` of another view. */
struct view_use {
	char *view;
	size_t offset; /* of its name in the map */
	size_t before; /* number of the view's own stages before it */
};

/** One view. */
struct view {
	char *name;
	char **select; /* patterns */
	size_t n_select;
	bool has_reading;
	enum reading reading;
	char *sample; /* NULL, or of a stream: of what a sampler keeps (pathmap/model/sampling.h) */
	struct plan_stage *stages; /* lowest level first */
	size_t n_stages;
	size_t offset;	       /* of its name in the map */
	bool shipped;	       /* not from the map */
	bool quiet;	       /* shipped, and not in lists */
	struct view_use *uses; /* until view_resolve() */
	size_t n_uses;
	enum { VIEW_RAW, VIEW_RESOLVING, VIEW_RESOLVED } state; /* of uses */
};

/** A new view without patterns and stages. */
struct view *view_new(const char *name);

/** Free a view. NULL is fine. */
void view_free(struct view *view);

/** The last level to run of the view that is asked for as @name, "NAME@LEVEL" or "NAME" (all of
 * them). Returns whether there is such a level. */
bool view_top(const char *name, enum level *top);

/** Add a copy of a pattern to the selection. */
void view_select(struct view *view, const char *pattern);

/** Append a stage; copies its texts. */
void view_stage(struct view *view, const struct plan_stage *stage);

/** Append a `use` of another view after the stages so far. */
void view_use(struct view *view, const char *name, size_t offset);

/** Could the view read elements whose names begin with the parts of @prefix? */
bool view_reaches(const struct view *view, const char *prefix);

#endif
