/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch: what one wave brings, as a sequence of packed runs that travel without being copied. */
#ifndef EVSPACE_BATCH_H
#define EVSPACE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/data/run.h"

/** Bytes with an owner count. `data` is 16-byte aligned. The loop's thread alone, so plain
 * counting. */
struct buffer {
	uint32_t refs;
	uint32_t pad;
	size_t size; /* room in data */
	size_t used; /* how far data is filled */
	_Alignas(16) unsigned char data[];
};

/** The common size: most waves fit. Buffers of this size are kept for reuse, a few of them. */
#define BUFFER_COMMON (64u << 10)

/** A new buffer with room for @size bytes or more and one reference. Aborts when memory is out. */
struct buffer *buffer_new(size_t size);

/** Take one more reference. Returns @b. */
struct buffer *buffer_ref(struct buffer *b);

/** Give a reference back; the last one frees. NULL is fine. */
void buffer_unref(struct buffer *b);

/** No waves will come for a while: free the buffers that are kept for them. */
void buffer_rest(void);

/** A stretch of a buffer that holds whole runs. */
struct extent {
	struct buffer *buffer;
	uint32_t at, bytes;
};

/** Extents in order. Plain data; holds a reference on each buffer. */
struct batch {
	struct extent *extents;
	size_t n, room;
	size_t bytes;	    /* sum over extents */
	struct buffer *own; /* where batch_add() works, NULL before */
	struct run *last;   /* what batch_add() added last */
};

#define RUN_POINTER(NAME, kind, ...) struct kind *kind##s;

/** A run found in a batch: pointers into its buffer, writable by stages that own the batch. */
struct run_view {
	struct run *run;
	uint64_t lost;
	union {
		unsigned char *records; /* by run->kind: */
		struct part *part;
		RUN_TABLE(RUN_POINTER)
	};
	struct buffer *buffer; /* that it is in */
	size_t bytes; /* of header, lost count and records; 0: it has no header of its own */
};

/** Where an iteration stands. Start with {0}. */
struct batch_cursor {
	size_t extent;
	size_t offset;
	uint32_t record;  /* within a RUN_NEWEST: how many of it were shown */
	struct run shown; /* the header that was made up for the last one */
};

void batch_init(struct batch *b);

/** Drop all references. The batch is empty and usable afterwards (its extent table is kept). */
void batch_clear(struct batch *b);

/** batch_clear() and free the table. NULL-safe. */
void batch_fini(struct batch *b);

/** Append a stretch of @buffer that holds whole runs, taking a reference of its own. */
void batch_append(struct batch *b, struct buffer *buffer, size_t at, size_t bytes);

/** Move everything in @from to the end of @to; copies no runs. */
void batch_link(struct batch *to, struct batch *from);

/** Copy the runs when the buffers beyond the common size that they lie in are more than four times
 * as large as they are: who keeps few bytes does not hold many. */
void batch_unpin(struct batch *b);

/**
 * Room for a run with @count records of @kind (and a lost count if @lost > 0) at the end; headers
 * are filled in, the records are for the caller to fill. Returns the records. At most 65,535
 * records.
 */
void *batch_add(struct batch *b, enum run_kind kind, uint32_t element, uint64_t first,
		uint32_t count, uint64_t lost);

/** A run that says that the @discarded tuples before number @first of @element were discarded. */
void batch_discard(struct batch *b, uint32_t element, uint64_t first, uint64_t discarded);

/**
 * Say what the run added last turned out to be: @count records of those that room was made for, the
 * first one numbered @first, @lost tuples lost before it. A run without records and losses is taken
 * out again.
 */
void batch_settle(struct batch *b, uint64_t first, uint32_t count, uint64_t lost);

/** batch_settle() with `first` and the lost count as they are. */
void batch_trim(struct batch *b, uint32_t count);

/** Append the run that @view shows, in another batch; copies it only if it has no header of its
 * own. */
void batch_keep(struct batch *b, const struct run_view *view);

/**
 * The next run in @view. Returns 1, or 0 at the end. The batch was made here or checked. A
 * RUN_NEWEST comes as so many RUN_TUPLES of one tuple; their headers live in the cursor, until the
 * next call with it.
 */
int batch_next(const struct batch *b, struct batch_cursor *c, struct run_view *view);

/** The next run as it is packed: a RUN_NEWEST is one run. */
int batch_next_packed(const struct batch *b, struct batch_cursor *c, struct run_view *view);

/** The next RUN_PART, past all else. */
int batch_next_part(const struct batch *b, struct batch_cursor *c, struct run_view *view);

/**
 * Check @bytes at @data that came over the wire, 8-byte aligned and in native byte order: every run
 * whole and known, a part first, nothing behind the last run, and no number in parts and totals
 * that arithmetic would stumble over. Returns 0, or -1 with EPROTO and the place in @e.
 */
int batch_check(const unsigned char *data, size_t bytes, struct error *e);

#endif
