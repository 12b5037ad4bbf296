/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch: the data of one wave, as a sequence of packed runs that are not copied on their way. */
#ifndef EVSPACE_BATCH_H
#define EVSPACE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/data/buffer.h"
#include "tree/data/run.h"

/** A range of a buffer that holds whole runs. */
struct extent {
	struct buffer *buffer;
	uint32_t at, bytes;
};

/** Extents in order. Plain data; holds a reference on each buffer. */
struct batch {
	struct extent *extents;
	size_t n, room;
	size_t bytes;	    /* sum over extents */
	size_t plain;	    /* the same when all columns are opened; more only if there are any */
	struct buffer *own; /* where batch_add() writes, NULL before the first */
	struct run *last;   /* the run that batch_add() added last */
};

#define RUN_POINTER(NAME, kind, ...) struct kind *kind##s;

/** As `first`: not known, since others were removed before. */
#define RUN_UNKNOWN UINT64_MAX

/** The number of the tuple @at of a run, or RUN_UNKNOWN. */
static inline uint64_t run_number(const struct run *run, uint32_t at)
{
	return at > 0 && run->flags & RUN_SPARSE ? RUN_UNKNOWN : run->first + at;
}

/** A run found in a batch: pointers into its buffer, writable by stages that own the batch. */
struct run_view {
	struct run *run;
	uint64_t lost;
	union {
		unsigned char *records; /* by run->kind: */
		struct part *part;
		RUN_TABLE(RUN_POINTER)
	};
	struct buffer *buffer; /* the buffer with the run */
	size_t bytes; /* of header, lost count and records; 0: the run has no header of its own */
};

/** The state of an iteration. Start with {0}. */
struct batch_cursor {
	size_t extent;
	size_t offset;
	uint32_t record;  /* in a RUN_NEWEST: how many of its records were shown */
	struct run shown; /* the header made for the last of them */
};

void batch_init(struct batch *b);

/** Drop all references. The batch is empty and usable afterwards (its extent table is kept). */
void batch_clear(struct batch *b);

/** batch_clear() and free the table. NULL-safe. */
void batch_fini(struct batch *b);

/** Append a range of @buffer that holds whole runs, none of columns; takes a reference. */
void batch_append(struct batch *b, struct buffer *buffer, size_t at, size_t bytes);

/** The same with columns; @plain is what batch_check() says. */
void batch_append_columns(struct batch *b, struct buffer *buffer, size_t at, size_t bytes,
			  size_t plain);

/** Move everything in @from to the end of @to without copying runs. */
void batch_link(struct batch *to, struct batch *from);

/** Remove @n extents from the one with number @at on, which hold whole runs; @plain is the size of
 * these when all columns are opened. */
void batch_cut(struct batch *b, size_t at, size_t n, size_t plain);

/** Copy the runs if the large buffers that hold them are more than four times as large as the runs,
 * so that keeping few bytes does not keep large buffers. */
void batch_unpin(struct batch *b);

/** Add a run with @count records of @kind, 65,535 at most, and a lost count if @lost > 0. Fills in
 * the headers; the caller fills in the records. Returns the records. */
void *batch_add(struct batch *b, enum run_kind kind, uint32_t element, uint64_t first,
		uint32_t count, uint64_t lost);

/** Add a run that says that the @discarded tuples before number @first of @element were
 * discarded. */
void batch_discard(struct batch *b, uint32_t element, uint64_t first, uint64_t discarded);

/**
 * Correct the run that was added last: it has @count of the records that it had room for, the first
 * one is number @first, and @lost tuples were lost before it. A run without records and losses is
 * removed.
 */
void batch_settle(struct batch *b, uint64_t first, uint32_t count, uint64_t lost);

/** batch_settle() with the same `first` and lost count. */
void batch_trim(struct batch *b, uint32_t count);

/** Append the run in @view, which is from another batch; copies it only if it has no header of its
 * own. */
void batch_keep(struct batch *b, const struct run_view *view);

/**
 * The next run of a batch that was made here or checked, in @view. Returns 1, or 0 at the end. Each
 * record of a RUN_NEWEST is shown as a RUN_TUPLES of one tuple, whose header is valid until the
 * next call with this cursor.
 */
int batch_next(const struct batch *b, struct batch_cursor *c, struct run_view *view);

/** The next run as it is packed: a RUN_NEWEST is one run. */
int batch_next_packed(const struct batch *b, struct batch_cursor *c, struct run_view *view);

/** The next RUN_PART; skips other runs. */
int batch_next_part(const struct batch *b, struct batch_cursor *c, struct run_view *view);

/** Most bytes that the columns of a batch from a peer may stand for: what is small must not become
 * large where it is opened, nor cost much to look through. */
#define BATCH_PLAIN_MOST (64u << 20)

/**
 * Check @bytes at @data from a peer, 8-byte aligned and in native byte order: each run is whole and
 * of a known kind, a part comes first, nothing follows the last run, and numbers in parts and
 * records are safe to calculate with. Returns 0 and in *@plain (if not NULL) the bytes when all
 * columns are opened, @bytes at least; or -1 with EPROTO and the place in @e.
 */
int batch_check(const unsigned char *data, size_t bytes, size_t *plain, struct error *e);

#endif
