/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of a view, how it reads, and its stages: what views and plans have in common. */
#ifndef EVSPACE_LEVEL_H
#define EVSPACE_LEVEL_H

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

/** One stage of a view: a kind ("reduce"), its arguments ("last"), and its level. */
struct plan_stage {
	enum level level;
	char *kind;
	char *args;
};

/** The level's keyword in a view ("element", "thread", "node", "cluster", "all"). */
const char *level_name(enum level level);

/** The reading's keyword in a view ("latest", "stream", "counts"). */
const char *reading_name(enum reading reading);

#endif
