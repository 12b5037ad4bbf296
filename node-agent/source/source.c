/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the rows once per wave, in one guarded read, and counts exactly what was read and lost. */
#include "node-agent/source/source.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "node-agent/store/cursor.h"
#include "node-agent/source/row-thread.h"
#include "node-agent/source/row-tell.h"
#include "node-agent/source/row-typed.h"
#include "node-agent/source/sampler.h"
#include "node-agent/source/sieve.h"
#include "node-agent/segment/segment-read.h"
#include "tree/data/op-table.h"

/* Most tuples of a leaf in a wave (2.6 MB), so that one backlog does not delay all others. */
#define WAVE_TUPLES 65536u

/* Tuples copied from a ring at a time; a run has at most 65,535. */
#define CHUNK 1024u

/* Newest tuples to make room for at a time. */
#define RUN_ROOM 256u

/* The call site is said of who is in an operation for longer. */
#define SITE_AFTER_NS 2e8

/* How far ahead ring heads and newest slots are prefetched. */
#define AHEAD_HEAD 16u
#define AHEAD_SLOT 8u

struct source {
	const struct source_host *host;
	struct rows *rows;
	uint32_t place;
	enum reading reading;
	bool samples; /* it reads what the sampler keeps */
	uint64_t cpu_us;
	/* state of the current read, here because a jump may leave a guarded read */
	const struct ask *ask;
	struct batch *out;
	struct part *part;
	uint64_t *left; /* of samples: how many were left out; NULL: that is not asked for */
	uint64_t now;	/* ticks */
	double ticks_per_ns;
	struct row_look look;
	uint32_t fill;
	uint32_t room;	      /* of the wave, in tuples; an earlier one is repeated whole */
	volatile uint32_t at; /* the row that is being read, or prefetched */
	enum cursor_wave wave;
	struct tuple chunk[CHUNK];
};

/* ---- one wave ---- */

static inline void count_written(struct part *part, const struct row *row, uint64_t head)
{
	part->written += head;
	part->cost_ns += head * atomic_load_explicit(row->cost_ps, memory_order_relaxed) / 1000u;
}

/* It may be changed while the row is read (segment_lifetime()). */
static inline uint64_t row_lifetime(const struct row *row)
{
	return row->lifetime ? atomic_load_explicit(row->lifetime, memory_order_relaxed)
			     : row->lifetime_ns;
}

/* Tuples of the row that ended before this time have exceeded their lifetime. */
static uint64_t row_oldest(const struct source *src, const struct row *row)
{
	/* the lifetime is from a file, and may exceed any clock */
	uint64_t ns = row_lifetime(row);
	uint64_t ticks = (uint64_t)fmin((double)ns * src->ticks_per_ns, 0x1p63);

	return ns && ticks < src->now ? src->now - ticks : 0;
}

/* Tuples below this number were discarded on request. */
static inline uint64_t row_mark(const struct row *row)
{
	return atomic_load_explicit(&row->mark->below, memory_order_relaxed);
}

/* Flag the last tuple of a process that was killed, or did not finish. */
static inline void row_mark_gone(const struct row *row, struct tuple *newest)
{
	if (__builtin_expect(!*row->alive, 0) &&
	    !atomic_load_explicit(row->finished, memory_order_relaxed))
		newest->flags |= TUPLE_GONE;
}

/* Read a row's newest tuple, and count it in @part. Returns 1, or 0 when there is none. */
static inline int row_newest(struct source *src, const struct row *row, struct newest *out,
			     struct part *part)
{
	uint64_t mark;

	out->number = 0;
	if (!row->ring)
		return row_thread(&src->look, row, src->at, &out->tuple);
	if (!element_latest(row->ring, row->capacity, row->inverse, &out->tuple, &out->number) ||
	    (row->mirrored && mirror_hole(&out->tuple) != HOLE_NONE))
		return 0;
	count_written(part, row, out->number + 1);
	row_mark_gone(row, &out->tuple);
	if (__builtin_expect(row->other != NULL, 0))
		row_ticks(src->host, &src->look.line, row, &out->tuple, 1);
	mark = row_mark(row);
	if (__builtin_expect(out->number >= mark && !row_lifetime(row), 1))
		return 1;
	if (out->number >= mark && out->tuple.end >= row_oldest(src, row))
		return 1;
	part->discarded++;
	return 0;
}

static inline void slot_prefetch(const struct row *row)
{
	const struct tuple *slot = &row->ring->slots[element_slot(element_head(row->ring) - 1,
								  row->capacity, row->inverse)];

	__builtin_prefetch(slot);
	__builtin_prefetch((const char *)(slot + 1) - 1);
}

/* Fetch what rows after @i need. This loads a head: if its file was cut short, that row must be
 * dropped. */
static inline void fetch_ahead(struct source *src, const struct row *row, uint32_t i, uint32_t n)
{
	if (i + AHEAD_HEAD < n)
		__builtin_prefetch(row[i + AHEAD_HEAD].ring);
	if (i + AHEAD_SLOT < n && row[i + AHEAD_SLOT].ring) {
		src->at = i + AHEAD_SLOT;
		slot_prefetch(&row[i + AHEAD_SLOT]);
	}
	src->at = i;
}

/* Consecutive rows have consecutive names, so that their tuples make one run. */
static void read_latest(struct source *src)
{
	const struct row *row = rows_table(src->rows);
	uint32_t n = rows_count(src->rows), count = 0, room = 0;
	struct part part = *src->part; /* closer than in the batch */
	struct newest *out = NULL;

	for (uint32_t i = 0; i < n; i++) {
		fetch_ahead(src, row, i, n);
		if (count == room) {
			room = n - i < RUN_ROOM ? n - i : RUN_ROOM;
			out = batch_add(src->out, RUN_NEWEST, row[i].name, 0, room, 0);
			count = 0;
		}
		if (row_newest(src, &row[i], &out[count], &part)) {
			part.read++;
			count++;
		} else {
			batch_trim(src->out, count);
			count = room = 0;
		}
	}
	if (count < room)
		batch_trim(src->out, count);
	*src->part = part;
}

static void put_discarded(struct source *src, const struct row *row, uint64_t first, uint64_t n)
{
	if (n == 0)
		return;
	batch_discard(src->out, row->name, first + n, n);
	src->part->discarded += n;
}

/* Add what was read of a row, without the first tuples that ended before @oldest. */
static uint32_t put_range(struct source *src, const struct row *row, const struct tuple *tuples,
			  const struct element_range *got, uint64_t oldest)
{
	uint32_t old = 0, left;

	while (old < got->count && tuples[old].end < oldest)
		old++;
	left = got->count - old;
	if (old > 0 && got->lost > 0)
		batch_add(src->out, RUN_TUPLES, row->name, got->first, 0, got->lost);
	put_discarded(src, row, got->first, old);
	if (left > 0 || (got->lost > 0 && old == 0))
		memcpy(batch_add(src->out, RUN_TUPLES, row->name, got->first + old, left,
				 old > 0 ? 0 : got->lost),
		       tuples + old, left * sizeof(struct tuple));
	src->part->read += left;
	src->part->lost += got->lost;
	if (src->samples)
		sieve_count(tuples + old, left, src->part, src->left);
	return left;
}

/* The same for a mirror: its holes count as lost or discarded. */
static uint32_t put_mirrored(struct source *src, const struct row *row,
			     const struct element_range *got, uint64_t oldest)
{
	struct element_range part = {.first = got->first, .lost = got->lost};
	uint32_t put = 0;

	for (uint32_t i = 0, n; i < got->count; i += n) {
		enum mirror_hole hole = mirror_hole(&src->chunk[i]);

		for (n = 1; i + n < got->count && mirror_hole(&src->chunk[i + n]) == hole;)
			n++;
		part.first = got->first + i;
		part.count = hole == HOLE_NONE ? n : 0;
		if (hole == HOLE_LOST) {
			part.lost += n;
			continue;
		}
		put += put_range(src, row, &src->chunk[i], &part, oldest);
		part.lost = 0;
		if (hole == HOLE_DISCARDED)
			put_discarded(src, row, part.first, n);
	}
	part.first = got->first + got->count;
	part.count = 0;
	return put + put_range(src, row, src->chunk, &part, oldest);
}

/* Skip what was discarded on request, below @mark. What the element did not hold even then is
 * lost. */
static uint64_t pass_mark(struct source *src, const struct row *row, uint64_t mark, uint64_t from,
			  uint64_t to)
{
	uint64_t oldest = segment_mark_oldest(mark, row->capacity);
	uint64_t end = mark < to ? mark : to;

	if (oldest > end)
		oldest = end;
	if (oldest > from) {
		batch_add(src->out, RUN_TUPLES, row->name, oldest, 0, oldest - from);
		src->part->lost += oldest - from;
		from = oldest;
	}
	put_discarded(src, row, from, end - from);
	return end;
}

/* Read one row's tuples [*@from, @to), at most @room, and set *@from to where it stopped.
 * Returns 0, or -1 for a damaged element: its head is below what was read before. */
static int read_range(struct source *src, const struct row *row, uint64_t *from, uint64_t to,
		      uint32_t *room)
{
	uint64_t oldest = row_oldest(src, row), mark = row_mark(row);
	struct element_range got;

	if (*from < mark && *from < to)
		*from = pass_mark(src, row, mark, *from, to);
	while (*from<to && * room> 0) {
		element_read(row->ring, row->capacity, *from, to, src->chunk,
			     *room < CHUNK ? *room : CHUNK, &got);
		if (got.lost + got.count == 0)
			return -1;
		if (row->other)
			row_ticks(src->host, &src->look.line, row, src->chunk, got.count);
		*from += got.lost + got.count;
		*room -= row->mirrored ? put_mirrored(src, row, &got, oldest)
				       : put_range(src, row, src->chunk, &got, oldest);
	}
	return 0;
}

/* Read what is new of a row from *@at on, and update *@at. */
static int read_new(struct source *src, const struct row *row, uint64_t *at, uint32_t *room)
{
	uint64_t head = element_head(row->ring);

	row_fill(row, *at, head, &src->fill);
	if (head < *at || read_range(src, row, at, head, room) < 0)
		return -1;
	count_written(src->part, row, head);
	return 0;
}

static int read_stream(struct source *src)
{
	const struct row *row = rows_table(src->rows);
	struct cursor *cursor = rows_cursor(src->rows);
	uint32_t n = rows_count(src->rows);
	uint64_t from, at;

	for (uint32_t k = 0; k < n; k++) {
		/* start elsewhere in each wave: none is always last when the room is used up */
		uint32_t i = (uint32_t)((k + src->ask->wave) % n);

		if (row[i].typed)
			continue;
		src->at = i;
		from = cursor_from(cursor, i);
		at = from;
		row_lose(&row[i], src->wave == CURSOR_AGAIN ? cursor_end(cursor, i) : row[i].end,
			 &at, src->out, src->part);
		if (src->wave == CURSOR_AGAIN) {
			if (row[i].ring &&
			    read_range(src, &row[i], &at, cursor_end(cursor, i), &src->room) < 0)
				return -1;
			continue;
		}
		if (row[i].ring && !row[i].off_map && read_new(src, &row[i], &at, &src->room) < 0)
			return -1;
		cursor_to(cursor, i, at);
		if (src->ask->have + 1 >= src->ask->wave)
			rows_acked(src->rows, i, from);
	}
	return 0;
}

static int read_rows(void *arg)
{
	struct source *src = arg;
	const struct typed_wave typed = {src->ask,  src->reading, src->wave, src->out,
					 src->part, &src->fill,	  &src->at,  &src->room};
	bool own = src->ask->wave % 2; /* first: they share the room */

	if (src->reading == READ_LATEST)
		read_latest(src);
	else if (src->wave != CURSOR_NEW && src->wave != CURSOR_AGAIN)
		return 0;
	else if ((own && rows_read_typed(src->rows, &typed) < 0) || read_stream(src) < 0)
		return -1;
	return own && src->reading == READ_STREAM ? 0 : rows_read_typed(src->rows, &typed);
}

static void source_part(struct source *src)
{
	uint64_t cpu = clock_cpu_us();
	bool says = src->ask->sampled && src->samples;

	src->part =
		batch_add(src->out, RUN_PART, src->place, src->ask->wave, 1, says ? UINT64_MAX : 0);
	src->left = says ? (uint64_t *)(void *)(src->out->last + 1) : NULL;
	if (says)
		*src->left = 0;
	memset(src->part, 0, sizeof(*src->part));
	src->part->clock = rows_clock(src->rows);
	src->part->elements = rows_count(src->rows);
	src->part->processes = rows_processes(src->rows);
	src->part->unreadable = rows_unreadable(src->rows);
	src->part->cpu_us = (uint32_t)(cpu - src->cpu_us);
	src->cpu_us = cpu;
	src->now = clock_ticks(clock_kind());
	src->ticks_per_ns = src->part->clock.ns_per_tick > 0 ? 1 / src->part->clock.ns_per_tick : 0;
	src->look.line = src->part->clock;
	src->look.long_ago = src->now - (uint64_t)(SITE_AFTER_NS * src->ticks_per_ns);
	src->look.n_sites = 0;
}

static int source_begin(struct source *src, const struct ask *ask, struct batch *out,
			struct error *e)
{
	struct cursor *cursor;

	if (rows_refused(src->rows, e) < 0)
		return -1;
	cursor = rows_cursor(src->rows);
	src->ask = ask;
	src->out = out;
	src->wave = CURSOR_NEVER;
	src->fill = 0;
	src->room = ask->room && ask->room < WAVE_TUPLES ? ask->room : WAVE_TUPLES;
	if (src->reading == READ_STREAM && cursor)
		src->wave = cursor_wave(cursor, ask->wave, ask->again, ask->have);
	if (src->wave == CURSOR_AGAIN)
		src->room = UINT32_MAX;
	batch_clear(out);
	source_part(src);
	return 0;
}

static bool source_take(struct stage *stage)
{
	struct source *src = (struct source *)(void *)stage->private;

	return rows_refresh(src->rows);
}

static bool source_ready(struct stage *stage)
{
	return rows_ready(((struct source *)(void *)stage->private)->rows);
}

static int read_wave(struct source *src, const struct ask *ask, struct batch *out, struct error *e)
{
	if (source_begin(src, ask, out, e) < 0)
		return -1;
	/* a file was cut short or is damaged: drop its rows and read the wave again without them */
	while (segment_guarded(read_rows, src) < 0) {
		if (rows_break(src->rows, src->at) < 0) {
			errno = EIO;
			return errorf(e, "files of the run are damaged, and change while they are "
					 "read; remove the run (evspace purge)");
		}
		if (source_begin(src, ask, out, e) < 0)
			return -1;
	}
	return 0;
}

static int source_read(struct stage *stage, const struct ask *ask, struct batch *out,
		       struct error *e)
{
	struct source *src = (struct source *)(void *)stage->private;

	if (read_wave(src, ask, out, e) < 0)
		return -1;
	/* once more, with the call sites that are known now */
	if (src->look.n_sites > 0) {
		rows_sites(src->rows, &src->look);
		if (read_wave(src, ask, out, e) < 0)
			return -1;
	}
	stage->fill = src->fill;
	if (src->wave != CURSOR_NEW)
		return 0;
	rows_tell(src->rows, out, ask->wave);
	return rows_commit(src->rows, e);
}

/* ---- life ---- */

static int source_init(struct stage *stage, const char *args, struct error *e)
{
	(void)stage;
	(void)args;
	(void)e;
	return 0;
}

static void source_fini(struct stage *stage)
{
	(void)stage;
}

static const struct stage_ops source_ops = {
	.name = "source",
	.op = OP_EVSPACE_SOURCE,
	.size = sizeof(struct source),
	.init = source_init,
	.take = source_take,
	.ready = source_ready,
	.read = source_read,
	.fini = source_fini,
};

struct stage *source_new(const struct source_host *host, const Evspace__Open *open,
			 const struct plan_place *place, struct names *names, struct error *e)
{
	struct stage *stage;
	struct source *src;

	if (source_check(host, open, place, e) < 0)
		return NULL;
	if (open->sample[0] && sampler_check(host, open, e) < 0)
		return NULL;
	if (open->reading == READ_COUNTS)
		return counter_new(host, open, place, names, e);
	stage = stage_new(&source_ops, LEVEL_ELEMENT, names, "", e);
	if (!stage)
		return NULL;
	src = (struct source *)(void *)stage->private;
	src->host = src->look.host = host;
	src->place = place->index;
	src->reading = open->reading == READ_STREAM ? READ_STREAM : READ_LATEST;
	src->samples = open->sample[0] != '\0';
	src->rows = rows_new(host, open, place, names);
	/* "from now on" starts at the opening, not at the first wave */
	(void)rows_begin(src->rows);
	return stage;
}

void source_replace(struct stage *stage, const struct plan_place *place)
{
	struct source *src = (struct source *)(void *)stage->private;

	if (stage->ops == &source_ops)
		rows_replace(src->rows, place);
	else
		counter_replace(stage, place);
}

void source_free(struct stage *stage, bool keep)
{
	struct source *src;

	if (!stage)
		return;
	src = (struct source *)(void *)stage->private;
	if (stage->ops == &source_ops)
		rows_free(src->rows, keep);
	stage_free(stage);
}
