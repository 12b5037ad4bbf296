/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages: the steps on the tuples' path (the papers' wrappers; docs/architecture.md). */
#ifndef EVSPACE_STAGE_H
#define EVSPACE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/data/batch.h"
#include "tree/data/columns-batch.h"
#include "tree/data/clock.h"
#include "tree/data/names.h"
#include "tree/data/op-table.h"

/** The request for one wave, as a stage sees it. */
struct ask {
	uint64_t wave; /* counts from 1 in its scope */
	uint64_t have; /* the last wave that the consumer has; it has all before, too */
	uint32_t room; /* tuples from this leaf that the consumer has room for, 0: any number */
	int again;     /* a repeated request: give the same ranges, count what is gone since */
	/* for stages that mix (struct parts_place): parts become one; the place is no leaf */
	bool folds, bare;
	bool sampled; /* parts say what was sampled out */
};

/** Typical number of classes of a thread, for the traits of stages that split by class. */
#define STAGE_CLASSES 4.0

/** Number of records or runs between two looks at the clock. */
#define STAGE_STEPS 256u
/** Most records for which a stage keeps its memory from wave to wave: that counts nowhere. */
#define STAGE_KEPT 8192u

struct stage;
struct span;

/** A kind of stage: one const table in one file. A stage never blocks, never sends, and is called
 * by one thread; only the core waits. Sources have `read`, all others `apply`. */
struct stage_ops {
	const char *name;	    /* keyword in the pathmap */
	uint16_t op;		    /* of ops.tab: recorded when the stage is monitored */
	struct stage_traits traits; /* without arguments */
	size_t size;		    /* of private bytes, which the core allocates and zeroes */
	/* Check the arguments, and set up private bytes and traits. Returns 0, or -1 with @e, which
	 * says what is valid. May be called for a check only (then names is NULL and fini follows
	 * at once). */
	int (*init)(struct stage *s, const char *args, struct error *e);
	/* Source only; NULL: not needed. Copy new data, for one turn at most (tree/data/turn.h).
	 * Returns whether that is all; if not, it is called again in another turn of the loop,
	 * before read(). */
	bool (*take)(struct stage *s);
	/* With take() only: is there nothing to copy now? Costs next to nothing. */
	bool (*ready)(struct stage *s);
	/* Source only: put the runs of this wave into @out, the leaf's RUN_PART first. Returns 0,
	 * or -1 with errno and @e; then @out is void. */
	int (*read)(struct stage *s, const struct ask *ask, struct batch *out, struct error *e);
	/* Change @b in place: replace runs, keep all parts, and update their counts. Returns 0, -1,
	 * or 1 if stage_over(): call it again with the same arguments in another turn. */
	int (*apply)(struct stage *s, const struct ask *ask, struct batch *b);
	/* Must be safe after a failed init and on zeroed private bytes. */
	void (*fini)(struct stage *s);
};

/** An instance of a kind at one place of one scope. */
struct stage {
	const struct stage_ops *ops;
	struct stage_traits traits;
	enum level level;
	struct names *names; /* of the place; borrowed */
	uint32_t fill;	     /* of a source: fill of what it read last (see Answer in wire.proto) */
	bool paused;	     /* apply() must continue the current wave */
	const char *fault;   /* of a stage of others: what it has done so that apply() fails */
	uint64_t until_ns;   /* CLOCK_MONOTONIC: end of this turn; 0: no limit */
	size_t steps;	     /* since the clock was read */
	_Alignas(16) unsigned char private[];
};

/**
 * The kind with this name, or NULL; tree/data/ops.tab lists them, pathmap/examples/README.md says
 * what each does. The name of a stage of others is that of its file, "NAME.so"
 * (tree/stage/stage-object.h).
 *
 * The figures of all are exact in any tree. Operations under way are left out of them, and so are,
 * in a matrix, tuples that stand for no message: they count as filtered. Stages that fold
 * (tree/stage/fold.h) and sort mix the runs of several leaves, and put a mark before these (struct
 * part). A name that is not known yet (if there are many, some are announced later) is its own
 * group; a filter by rank or name drops its tuples. Lost counts are in the runs until a reduce, in
 * the parts always.
 */
const struct stage_ops *stage_find(const char *kind);

/** Is "@kind @args" a stage with valid arguments (NULL: is there such a kind?), which takes what a
 * stage of @below makes? A pathmap_stage_check. A stage of others that is not here passes: the
 * hosts that run it know. */
int stage_check(const char *kind, const char *args, const struct stage_traits *below,
		struct stage_traits *traits, struct error *e);

/** Make an instance of @ops. Returns NULL with @e if the arguments are wrong. */
struct stage *stage_new(const struct stage_ops *ops, enum level level, struct names *names,
			const char *args, struct error *e);
void stage_free(struct stage *s);

/** For apply(), after @steps more records or runs: is this turn over? Reads the clock now and
 * then. */
static inline bool stage_over(struct stage *s, size_t steps)
{
	s->steps += steps;
	if (s->steps < STAGE_STEPS)
		return false;
	s->steps = 0;
	return s->until_ns && clock_mono_ns() >= s->until_ns;
}

/** Stages in order. */
struct chain {
	struct stage **stages;
	size_t n, at;	   /* at: the stage that continues, while a batch is on its way */
	uint64_t since_ns; /* when that began, if it is recorded */
	struct span *span; /* records them; NULL after chain_init(); borrowed */
	/* False after chain_init(): open columns even without stages; make columns at the end. */
	bool opens, packs;
	struct columns_turn columns;
	const struct stage *failed; /* has a fault: no more batches pass */
};

/** Make the stages of a plan's list. Returns 0, or -1 with @e (of a kind that is not here, too:
 * what to do) and an empty chain. */
int chain_init(struct chain *chain, const struct plan_stage *list, size_t n, struct names *names,
	       struct error *e);
void chain_fini(struct chain *chain);

/** Pass @b through all stages. Returns 0, or -1 with errno from the stage that failed, or 1 if
 * @until_ns (CLOCK_MONOTONIC, 0: no limit) comes first: then call it again with the same @b, or
 * chain_drop(). */
int chain_apply(struct chain *chain, const struct ask *ask, struct batch *b, uint64_t until_ns);

/** Give up the batch that is on its way. */
void chain_drop(struct chain *chain);

#define STAGE_EXTERN(kind) extern const struct stage_ops kind##_ops;
STAGE_TABLE(STAGE_EXTERN)

/** Swap the byte order of a batch from a host with the other one, in place, before batch_check().
 * Its content may be anything. Returns 0, or -1 with EPROTO and the place in @e. */
int convert_swap(unsigned char *data, size_t bytes, struct error *e);

#endif
