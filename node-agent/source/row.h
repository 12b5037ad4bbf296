/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows: which elements of which segments a source reads, kept in step as processes come and go. */
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
	bool region;			     /* it is what the thread says that it is in */
	const bool *alive;		     /* whether its process lives */
	const _Atomic uint32_t *finished;    /* not 0: its process has ended as it should */
	const struct segment_mark *mark;     /* of the element: what was discarded */
	const struct store_segment *other;   /* whose ticks are not the agent's; NULL: they are */
	uint64_t lifetime_ns;		     /* of its tuples; 0: no end */
	uint64_t inverse;		     /* element_inverse() of: */
	uint32_t capacity;
	uint32_t name;	  /* name id */
	uint32_t cost_ps; /* of one event in its process */
	uint64_t serial;  /* of its segment or mirror in the store */
	uint64_t acked;	  /* where it is fetched, what is below this has come there */
	/* of one whose file has gone: tuples it had, and below which they were discarded */
	uint64_t end, discarded;
	bool mirrored; /* it is a mirror: there are holes in it */
	bool off_map;  /* the map does not have its process here any more: no wave that is new */
	bool nameless; /* of all elements of a file that went before they had rows of their own */
};

/** The rows of one source. Row numbers are those of its cursors. */
struct rows;

/** Nothing is read yet: call rows_begin(). Aborts when memory is out. */
struct rows *rows_new(const struct source_host *host, const Evspace__Open *open,
		      const struct plan_place *place, struct names *names);
void rows_free(struct rows *rows, bool keep);

/**
 * Follow what is there, and note where its elements are if what they hold already is not to be
 * read: "from now on" is from here. Costs a load per element then, else per segment. Returns
 * whether there is anything to be taken in.
 */
bool rows_begin(struct rows *rows);

/** Is there nothing to be taken in, nor to be followed, as a look of a load per segment tells? */
bool rows_ready(struct rows *rows);

/**
 * Take in what has come since the last call: segments, threads, elements, communicators; names are
 * learnt as they come. Costs a load per segment when nothing has changed, and no more than a turn's
 * worth (tree/data/turn.h) when much has. Returns whether all is in; else the next call goes on.
 */
bool rows_refresh(struct rows *rows);

/**
 * Go by @place from now on, of the same node: which ranks it holds, and what its cluster is called.
 * The next refresh stops at processes that it does not hold any more, after what waves have read of
 * them, and takes in those that it holds now; one that comes back is read on from there.
 */
void rows_replace(struct rows *rows, const struct plan_place *place);

/** Does an open stream of this host read the process because its map has it here? */
bool rows_streamed(const struct source_host *host, const struct store_segment *s);

uint32_t rows_count(const struct rows *rows);
const struct row *rows_table(const struct rows *rows);

/** The cursors, or NULL while the run is not there yet. */
struct cursor *rows_cursor(const struct rows *rows);

/** Are there no cursors although there is something to read? Returns 0, or -1 with errno and @e. */
int rows_refused(const struct rows *rows, struct error *e);

/** The new wave stands (cursor_commit()). Returns 0, or -1 with errno and @e: it does not. */
int rows_commit(struct rows *rows, struct error *e);

/** How many processes of these rows live. */
uint32_t rows_processes(const struct rows *rows);

/** Of how many the files are damaged, or were from the start: their elements cannot be read. */
uint32_t rows_unreadable(const struct rows *rows);

/** The host's clock line as of now, its error that of what was fetched included. */
struct clock_line rows_clock(const struct rows *rows);

/** Who fetches row @at has all below @number. */
void rows_acked(struct rows *rows, uint32_t at, uint64_t number);

/** Has a node that fetches from @s not got all yet? (row-fetch.c) */
bool rows_behind(const struct source_host *host, const struct store_segment *s);

/**
 * How much of what @s has written in elements that @node fetches has come there: *@got of
 * *@written. Returns whether it fetches at all at present. (row-fetch.c)
 */
bool rows_fetched(const struct source_host *host, const struct store_segment *s, const char *node,
		  uint64_t *got, uint64_t *written);

/** The segment of row @at could not be read: its rows go. Returns 0, or -1 if they had gone. */
int rows_break(struct rows *rows, uint32_t at);

/**
 * The files of the segments @going go: what their elements have by now, and no stream has read, is
 * lost, which its next waves tell. Of elements that were not taken in yet, those that the stream
 * would have been without for their names alone count, too. (row-gone.c)
 */
void rows_gone(const struct source_host *host, const struct store_list *going);

/** Tell in @out and @part that the tuples [*@from, @to) are lost, or discarded, if they went with
 * the element's file; *@from becomes @to then. (row-gone.c) */
void row_lose(const struct row *row, uint64_t to, uint64_t *from, struct batch *out,
	      struct part *part);

/** The most that is told of how full an element is, in 1/1000. */
#define ROW_FILL_MOST 1000000u

/** Of the element's tuples those from @from to @head are to be read: take that into the *@fill of
 * the fullest (see Answer in wire.proto). */
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

/** Fetch the newest slot of a ring into the cache. */
static inline void row_prefetch(const struct row *row)
{
	uint64_t head = atomic_load_explicit(&row->ring->head, memory_order_relaxed);
	uint32_t at = element_slot(head - 1, row->capacity, row->inverse);
	const char *slot = (const char *)&row->ring->slots[at];

	__builtin_prefetch(slot);
	__builtin_prefetch(slot + sizeof(struct tuple) - 1);
}

#endif
