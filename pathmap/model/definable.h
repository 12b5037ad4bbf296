/* SPDX-License-Identifier: BSD-3-Clause */
/* What a map lets consumers define: who, and which views. */
#ifndef EVSPACE_DEFINABLE_H
#define EVSPACE_DEFINABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/shape.h"

/** Who may define views. */
enum definer { DEFINER_OBSERVE, DEFINER_CONTROL, DEFINER_NONE };

/** What consumers may define: `views { ... }` of application.map. */
struct definable {
	bool said; /* the map has `views`; else the defaults */
	enum definer by;
	unsigned stages;  /* of one view, with those of views that it uses */
	unsigned open;	  /* views of one consumer at once */
	unsigned window;  /* waves under way in each of them; 0: any number */
	uint64_t cost_ns; /* CPU time of all hosts for a wave, as predicted; 0: any */
	char **kinds;	  /* of stages, as the definition itself names them; none: all of ours */
	size_t n_kinds;
	/* how the tree of any view may be, besides as the mapping has it */
	bool trees[TREE_BY_HAND]; /* by kind */
	bool concurrency_said;
	unsigned concurrency; /* most children asked at once, 0: all */
};

/** Fill in defaults. */
void definable_finish(struct definable *definable);
void definable_fini(struct definable *definable);

/** May a definition name this kind of stage? */
bool definable_has(const struct definable *definable, const char *kind);

/** "by observe, 8 stages and 4 views at most": for people; the caller must free() it. */
char *definable_text(const struct definable *definable);

/** "trees flat fanout, concurrency 8 at most", "" for none of both; likewise. */
char *definable_shapes(const struct definable *definable);

#endif
