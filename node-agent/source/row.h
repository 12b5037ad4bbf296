/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows: the elements that a source reads, kept in step as processes come and go. */
#ifndef EVSPACE_ROW_H
#define EVSPACE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "node-agent/store/cursor.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/source/source.h"

/** One element of a source, or one thread's state line. */
struct row {
	const struct element_ring *ring;     /* NULL: gone, not selected, or a state line */
	const struct segment_thread *thread; /* of a state line or region, else NULL */
	bool region;			     /* it is the thread's open region or phase */
	const bool *alive;		     /* its process lives */
	const _Atomic uint32_t *finished;    /* not 0: its process has ended as it should */
	const struct segment_mark *mark;     /* of the element: up to where it was discarded */
	const struct store_segment
		*other;	      /* its segment if that has other ticks than the agent; else NULL */
	uint64_t lifetime_ns; /* of its tuples; 0: unlimited; unless this, which may change, is: */
	const _Atomic uint64_t *lifetime;
	uint64_t inverse; /* element_inverse() of: */
	uint32_t capacity;
	uint32_t name;			 /* name id */
	const _Atomic uint32_t *cost_ps; /* of one event in its process, as it is known so far */
	uint64_t serial;		 /* of its segment or mirror in the store */
	uint64_t acked; /* if it is fetched: tuples below this number have arrived */
	union {
		/* of a removed file: tuples written, and below which they were discarded */
		struct {
			uint64_t end, discarded;
		};
		/* of a thread's region: the call site that is known, and its label; 0: none */
		struct {
			uint64_t site;
			uint32_t site_label;
		};
	};
	bool typed;    /* it is a program's own element (row-typed.h) */
	bool mirrored; /* it is a mirror, which may have holes */
	bool off_map;  /* the map does not have its process here any more: in no new wave */
	bool nameless; /* stands for all elements of a file that was removed before they had rows */
};

/** The rows of one source. Row numbers are those of its cursors. */
struct rows;
/** Reads nothing yet: call rows_begin(). Aborts when memory is out. */
struct rows *rows_new(const struct source_host *host, const Evspace__Open *open,
		      const struct plan_place *place, struct names *names);
void rows_free(struct rows *rows, bool keep);

/**
 * Follow existing segments. If what elements hold already is not to be read, note their heads:
 * "from now on" starts here. That costs a load per element, else a load per segment. Returns
 * whether there is anything to read.
 */
bool rows_begin(struct rows *rows);

/** Is there nothing new to read or to follow? Costs a load per segment. */
bool rows_ready(struct rows *rows);

/**
 * Make rows of what has come since the last call: segments, threads, elements, communicators; learn
 * their names. Costs a load per segment when nothing has changed, and at most a turn's time
 * (tree/data/turn.h). Returns whether all is done; else the next call continues.
 */
bool rows_refresh(struct rows *rows);

/**
 * Use @place of the same node from now on: the ranks that it holds, and the name of its cluster.
 * The next refresh stops reading processes that it does not hold any more, and begins with new
 * ones. A process that comes back is read on from where it stopped.
 */
void rows_replace(struct rows *rows, const struct plan_place *place);

/** Does an open stream of this host read the process because the stream's map has it here? */
bool rows_streamed(const struct source_host *host, const struct store_segment *s);

uint32_t rows_count(const struct rows *rows);
const struct row *rows_table(const struct rows *rows);

/** The cursors, or NULL while the run does not exist yet. */
struct cursor *rows_cursor(const struct rows *rows);

/** Returns 0, or -1 with errno and @e if there is something to read, but no cursors. */
int rows_refused(const struct rows *rows, struct error *e);

/** Make the new wave permanent (cursor_commit()). Returns 0, or -1 with errno and @e. */
int rows_commit(struct rows *rows, struct error *e);

/** The number of living processes of these rows. */
uint32_t rows_processes(const struct rows *rows);

/** The number of processes whose elements cannot be read, because their files are damaged. */
uint32_t rows_unreadable(const struct rows *rows);

/** The host's clock line as of now; its error includes that of fetched elements. */
struct clock_line rows_clock(const struct rows *rows);

/** The node that fetches row @at has all tuples below @number. */
void rows_acked(struct rows *rows, uint32_t at, uint64_t number);

/** Does a node that fetches from @s lack tuples? (row-fetch.c) */
bool rows_behind(const struct source_host *host, const struct store_segment *s);

/** How much of what @s has written to elements that @node fetches has arrived there: *@got of
 * *@written. Returns whether it fetches at present. (row-fetch.c) */
bool rows_fetched(const struct source_host *host, const struct store_segment *s, const char *node,
		  uint64_t *got, uint64_t *written);

/** The segment of row @at could not be read: drop its rows. Returns 0, or -1 if they were
 * dropped before. */
int rows_break(struct rows *rows, uint32_t at);

/**
 * The files of the segments @going are removed: what a stream has not read of their elements is
 * lost, and its next waves say so. Elements without rows count, too, even those whose names the
 * stream would not have selected. (row-gone.c)
 */
void rows_gone(const struct source_host *host, const struct store_list *going);

/** If the element's file was removed, add the tuples [*@from, @to) to @out and @part as lost or
 * discarded, and set *@from to @to. (row-gone.c) */
void row_lose(const struct row *row, uint64_t to, uint64_t *from, struct batch *out,
	      struct part *part);

/** Upper bound of an element's fill, in 1/1000. */
#define ROW_FILL_MOST 1000000u

/** Update the greatest *@fill (see Answer in wire.proto) with an element whose tuples from @from
 * to @head are to be read. */
static inline void row_fill(const struct row *row, uint64_t from, uint64_t head, uint32_t *fill)
{
	uint64_t n = head > from ? head - from : 0, part = ROW_FILL_MOST;

	if (n == 0 || row->capacity < 2)
		return;
	if (n / ROW_FILL_MOST < row->capacity)
		part = n * 1000 / (row->capacity - 1);
	if (part > ROW_FILL_MOST)
		part = ROW_FILL_MOST;
	if (part > *fill)
		*fill = (uint32_t)part;
}

#endif
