/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages: the pieces of code that tuples pass on their path (the paper's wrappers;
 * docs/architecture.md). */
#ifndef EVSPACE_STAGE_H
#define EVSPACE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/data/batch.h"
#include "tree/data/names.h"
#include "tree/data/op-table.h"

/** One wave's request, as a stage sees it. */
struct ask {
	uint64_t wave; /* counts from 1 in its scope */
	uint64_t have; /* the consumer has all waves up to this one */
	uint32_t room; /* tuples that the consumer has room for from this leaf, 0: any number */
	int again; /* asked for before: give the same ranges, or count what was overwritten since */
};

/** Classes of operations that a thread uses, for the traits of what splits by them. */
#define STAGE_CLASSES 4.0

struct stage;
struct span;

/**
 * A stage kind: one const table in one file. Only the core waits; a stage never blocks, never
 * sends, and is called by one thread. `read` for sources, `apply` for all others.
 */
struct stage_ops {
	const char *name;	    /* keyword in the pathmap */
	uint16_t op;		    /* of ops.tab: what is recorded when it is monitored */
	struct stage_traits traits; /* as they are without arguments */
	size_t size;		    /* private bytes, allocated by the core, zeroed */
	/* Check the arguments, and set up private bytes and what they make of the traits. -1 and @e
	   says what would be right. May be called for a check only (then names is NULL and fini
	   follows at once). */
	int (*init)(struct stage *s, const char *args, struct error *e);
	/* Source only, NULL: there is nothing to do. Take in what is new of what is to be read, no
	   more than a turn's worth (tree/data/turn.h). Returns whether that is all: if not, call it
	   again in another turn of the loop, before read(). */
	bool (*take)(struct stage *s);
	/* Where there is take(): there is nothing to be taken in now; that costs next to nothing.
	 */
	bool (*ready)(struct stage *s);
	/* Source only: this wave's runs to @out, the leaf's RUN_PART first. -1, errno and @e: it
	   cannot be read, and what is in @out is nothing. */
	int (*read)(struct stage *s, const struct ask *ask, struct batch *out, struct error *e);
	/* Change @b in place: replace runs, keep all parts, their counts brought up to date. */
	int (*apply)(struct stage *s, const struct ask *ask, struct batch *b);
	/* Safe after a failed init and on zeroed private bytes. */
	void (*fini)(struct stage *s);
};

/** An instance of a kind at one place of one scope. */
struct stage {
	const struct stage_ops *ops;
	struct stage_traits traits;
	enum level level;
	struct names *names; /* of the place; not owned */
	uint32_t fill;	     /* of a source: see Answer in wire.proto, of what it has read last */
	_Alignas(16) unsigned char private[];
};

/**
 * The kind of this name, NULL when there is none: those that tree/data/ops.tab lists. What each
 * does is said in pathmap/examples/README.md.
 *
 * The figures of all are exact in any tree. What is under way has no part in them, nor have tuples
 * that are no message in a matrix: they count as filtered. What folds (tree/stage/fold.h) and sort
 * mix what several leaves brought, and then behind a mark (struct part). Names that are not known
 * yet (when there are many, some are announced later) stand for themselves; a filter by rank or
 * name does not let them pass. Lost counts are in the runs until a reduce, in the parts always.
 */
const struct stage_ops *stage_find(const char *kind);

/** Is "@kind @args" a stage that exists with arguments that it takes? A pathmap_stage_check. */
int stage_check(const char *kind, const char *args, struct stage_traits *traits, struct error *e);

/** Make an instance of @ops. Returns NULL with @e when the arguments are wrong. */
struct stage *stage_new(const struct stage_ops *ops, enum level level, struct names *names,
			const char *args, struct error *e);
void stage_free(struct stage *s);

/** Stages one behind the other. */
struct chain {
	struct stage **stages;
	size_t n;
	struct span *span; /* where that is recorded; NULL after chain_init(); borrowed */
};

/** Make the stages of a plan's list. Returns 0, or -1 with @e and an empty chain. */
int chain_init(struct chain *chain, const struct plan_stage *list, size_t n, struct names *names,
	       struct error *e);
void chain_fini(struct chain *chain);

/** Send @b through all stages. Returns 0, or -1 with errno from the stage that failed. */
int chain_apply(struct chain *chain, const struct ask *ask, struct batch *b);

#define STAGE_EXTERN(kind) extern const struct stage_ops kind##_ops;
STAGE_TABLE(STAGE_EXTERN)

/**
 * Swap the byte order of a batch that came from a host with the other one, in place, before
 * batch_check(). Anything may be in it. Returns 0, or -1 with EPROTO and the place in @e.
 */
int convert_swap(unsigned char *data, size_t bytes, struct error *e);

#endif
