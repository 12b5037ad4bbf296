/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch: what one wave brings, as a sequence of packed runs that travel without being copied. */
#ifndef EVSPACE_BATCH_H
#define EVSPACE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/error.h"
#include "tree/buffer.h"
#include "tree/clock.h"
#include "tree/tuple.h"

/** What the records of a run are. */
enum run_kind {
	RUN_TUPLES, /* struct tuple, numbered from `first` */
	RUN_TOTALS, /* struct total */
	RUN_PART,   /* one struct part: what follows, up to the next part, is from this leaf and wave */
	RUN_KINDS,
};

enum run_flag {
	RUN_LOST = 1 << 0,   /* a uint64_t follows the header: tuples overwritten before this run */
	RUN_SPARSE = 1 << 1, /* a filter or sort took tuples out: numbers after `first` have gaps */
};

/**
 * The header of a run, 16 bytes, packed in native byte order, 8-byte aligned in memory; then the
 * lost count if RUN_LOST, then `count` records. For RUN_PART, `element` is the leaf's place index and
 * `first` its wave.
 */
struct run {
	uint32_t element; /* name id (tree/names.h) */
	uint16_t count;
	uint8_t kind;
	uint8_t flags;
	uint64_t first;
};

/**
 * Where runs come from, and what became of the tuples: in this wave, at this leaf,
 *   read = delivered + filtered + reduced     (DESIGN rule 4: every tuple is accounted for)
 * `lost` tuples were overwritten before they could be read, so written = read + lost.
 * For READ_LATEST, older tuples are not asked for and not counted.
 */
struct part {
	struct clock_line clock; /* how the times of the runs that follow become nanoseconds */
	uint64_t read, lost, filtered, reduced;
	uint32_t elements; /* how many elements the leaf has in this scope */
	uint32_t cpu_us;   /* CPU time that the leaf's agent used since the wave before */
};

/** A fold of many tuples' value (duration in ns, or bytes) under one key. Exact to merge. */
struct total {
	uint64_t count;
	uint64_t sum;	 /* exact, in ns or bytes */
	double mean, m2; /* merged by Chan's formula, for mean and variance */
	uint64_t min, max;
	uint32_t comm; /* key: communicator, 0 if not by comm */
	uint16_t op;   /* key: operation, 0 if not by op */
	uint8_t value; /* enum total_value */
	uint8_t fold;  /* enum total_fold: which of the figures was asked for */
};

enum total_value { TOTAL_DURATION, TOTAL_BYTES };
enum total_fold {
	FOLD_COUNT,
	FOLD_SUM,
	FOLD_MIN,
	FOLD_MAX,
	FOLD_MEAN,
	FOLD_VARIANCE,
	FOLD_COUNT_OF_KINDS
};

_Static_assert(sizeof(struct run) == 16, "a run header is 16 bytes");
_Static_assert(sizeof(struct part) == 72, "a part is 72 bytes");
_Static_assert(sizeof(struct total) == 56, "a total is 56 bytes");

/** A stretch of a buffer that holds whole runs. */
struct extent {
	struct buffer *buffer;
	uint32_t at, bytes;
};

/** Extents in order. Plain data; holds a reference on each buffer. */
struct batch {
	struct extent *extents;
	size_t n, room;
	size_t bytes; /* sum over extents */
};

/** A run found in a batch: pointers into its buffer, writable by stages that own the batch. */
struct run_view {
	struct run *run;
	uint64_t lost;
	unsigned char *records; /* struct tuple, struct total or struct part, by run->kind */
};

/** Where an iteration stands. Start with {0}. */
struct batch_cursor {
	size_t extent;
	size_t offset;
};

void batch_init(struct batch *b);

/** Drop all references. The batch is empty and usable afterwards (its extent table is kept). */
void batch_clear(struct batch *b);

/** batch_clear() and free the table. NULL-safe. */
void batch_fini(struct batch *b);

/** Append a stretch of @buffer, taking a reference of its own. The stretch must hold whole runs. */
void batch_append(struct batch *b, struct buffer *buffer, size_t at, size_t bytes);

/** Move everything in @from to the end of @to; copies no runs. */
void batch_link(struct batch *to, struct batch *from);

/**
 * Room for a run with @count records of @kind (and a lost count if @lost > 0) at the end; headers are
 * filled in, the records are for the caller to fill. Returns the records. At most 65,535 records.
 */
void *batch_add(struct batch *b, enum run_kind kind, uint32_t element, uint64_t first,
		uint32_t count, uint64_t lost);

/** Shrink the run added last by batch_add() to @count records (fewer were there than made room for). */
void batch_trim(struct batch *b, uint32_t count);

/** Bytes of a record of this kind. */
size_t run_record_bytes(enum run_kind kind);

/** The next run in @view. Returns 1, or 0 at the end. The batch must be sound (made here or checked). */
int batch_next(const struct batch *b, struct batch_cursor *c, struct run_view *view);

/**
 * Check @bytes at @data that came over the wire: every run whole, known, aligned, nothing behind the
 * last. Returns 0, or -1 with EPROTO and the place in @e.
 */
int batch_check(const unsigned char *data, size_t bytes, struct error *e);

#endif
