/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes rows of the elements and threads of a segment, from copies made by guarded reads. */
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/store/cursor-private.h"
#include "node-agent/source/label.h"
#include "node-agent/source/row-private.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Cursor keys of state lines and regions, above those of elements. */
#define STATE_KEY  0x80000000u
#define REGION_KEY 0xc0000000u

_Static_assert(SEGMENT_ELEMENTS_READ == ROWS_MAX, "what can be rows is read");

/* Table entries copied out of a segment at a time. */
#define COPY 64u

/* Most heads of older elements that a stream notes: four times as many as it may have rows. */
#define HEADS_MAX (4 * (size_t)ROWS_MAX)

/* Copied from a segment by a guarded read. */
struct row_take_copy {
	const struct segment *segment;
	uint32_t from, count; /* count of 0: not complete yet */
	struct segment_element elements[COPY];
	const struct segment_thread *threads[COPY];
	uint64_t heads[COPY];
};

/* The heads of a segment's elements at the opening. */
struct row_take_heads {
	const struct segment *segment;
	uint32_t n;
	uint64_t *heads;
};

/* Give @e, element number @element (or a state line), a name and a row, filled from @new. */
static void rows_add(struct rows *r, struct follow *f, uint32_t element,
		     const struct segment_element *e, struct row new, uint64_t start)
{
	struct cursor_key key = {
		.device = f->segment->segment.device,
		.inode = f->segment->segment.inode,
		.born = f->segment->born.mono_ns,
		.element = element,
	};
	char text[NAME_BYTES];
	struct row_name name = {text, store_segment_rank(f->segment), e->channel, key.born};

	if (!rows_read_here(r, f->segment, e) ||
	    label_name(text, r->place, f->segment, e, r->host->sites) < 0 ||
	    (r->fetch[0] && rows_fetch_name(r, f->segment, text) < 0))
		return;
	new.serial = f->serial;
	rows_put(r, &key, &name, new, start);
}

static int copy_elements(void *arg)
{
	struct row_take_copy *c = arg;
	uint32_t total = segment_elements_readable(c->segment);

	for (c->count = 0; c->count < COPY && c->from + c->count < total; c->count++) {
		const struct segment_element *e = segment_element(c->segment, c->from + c->count);
		const struct element_ring *ring;

		/* Entries are read in order; an incomplete one delays those after it until next
		 * time. */
		if (!e)
			break;
		memcpy(&c->elements[c->count], e, sizeof(*e));
		ring = segment_ring(c->segment, &c->elements[c->count]);
		c->heads[c->count] = ring ? element_head(ring) : 0;
	}
	return 0;
}

/* Make a row of element number f->elements, which is number @i of the copied ones. */
static void take_element(struct rows *r, struct follow *f, const struct row_take_copy *c,
			 uint32_t i)
{
	const struct segment_element *e = &c->elements[i];
	struct row row = {
		.ring = segment_ring(c->segment, e),
		.alive = &f->segment->alive,
		.finished = &c->segment->header->finished,
		.mark = segment_mark(c->segment, f->elements),
		.other = source_ticks_alike(f->segment) ? NULL : f->segment,
		.lifetime = segment_lifetime(c->segment, f->elements),
		.lifetime_ns = c->segment->said.lifetime_ns[e->channel % CHANNEL_MAX],
		.capacity = e->capacity,
		.inverse = element_inverse(e->capacity),
		.cost_ps = &c->segment->header->cost_ps,
	};
	uint64_t start = 0;

	/* there are no noted heads if the process was renamed, or too many elements: then start
	 * now */
	if (r->from_now && f->elements < f->older)
		start = f->heads ? f->heads[f->elements] : c->heads[i];
	if (row.ring)
		rows_add(r, f, f->elements, e, row, start);
}

static int count_elements(void *arg)
{
	struct row_take_heads *c = arg;

	c->n = segment_elements_readable(c->segment);
	return 0;
}

static int copy_heads(void *arg)
{
	struct row_take_heads *c = arg;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct segment_element *e = segment_element(c->segment, i);
		const struct element_ring *ring;
		struct segment_element copy;

		/* an incomplete one begins after the opening */
		if (!e)
			continue;
		memcpy(&copy, e, sizeof(copy));
		ring = segment_ring(c->segment, &copy);
		if (ring)
			c->heads[i] = element_head(ring);
	}
	return 0;
}

static int follow_note_older(struct rows *r, struct follow *f)
{
	struct row_take_heads c = {.segment = &f->segment->segment};

	if (segment_guarded(count_elements, &c) < 0)
		return -1;
	f->older = c.n;
	if (c.n == 0 || c.n > HEADS_MAX - r->n_heads)
		return 0;
	c.heads = f->heads = memory_new(c.n, sizeof(*c.heads));
	r->n_heads += c.n;
	return segment_guarded(copy_heads, &c);
}

void rows_note_older(struct rows *r)
{
	for (size_t i = 0; r->from_now && i < r->n_follows; i++) {
		if (follow_note_older(r, &r->follows[i]) < 0)
			rows_lose(r, &r->follows[i]);
	}
}

void follow_forget_heads(struct rows *r, struct follow *f)
{
	if (!f->heads)
		return;
	r->n_heads -= f->older;
	free(f->heads);
	f->heads = NULL;
}

/* Make rows of elements until @until_ns, but at least one. Returns 0, 1: there are more, or -1:
 * the file was cut short. */
static int rows_take_elements(struct rows *r, struct follow *f, uint64_t until_ns)
{
	struct row_take_copy c = {.segment = &f->segment->segment};

	do {
		c.from = f->elements;
		if (segment_guarded(copy_elements, &c) < 0)
			return -1;
		/* a name may take long: its call site may be searched for in a large file */
		for (uint32_t i = 0; i < c.count; i++) {
			take_element(r, f, &c, i);
			f->elements++;
			if (clock_mono_ns() >= until_ns)
				return 1;
		}
	} while (c.count > 0);
	if (f->elements >= f->older)
		follow_forget_heads(r, f);
	return 0;
}

static int take_threads(void *arg)
{
	struct row_take_copy *c = arg;
	uint32_t total = segment_threads(c->segment);

	for (c->count = 0; c->count < COPY && c->from + c->count < total; c->count++) {
		c->threads[c->count] = segment_thread(c->segment, c->from + c->count);
		if (!c->threads[c->count])
			break;
	}
	return 0;
}

/* Make rows of threads until @until_ns, but at least some. Returns 0, 1: there are more, or -1:
 * the file was cut short. */
static int rows_take_threads(struct rows *r, struct follow *f, uint64_t until_ns)
{
	struct row_take_copy c = {.segment = &f->segment->segment};

	do {
		c.from = f->threads;
		if (segment_guarded(take_threads, &c) < 0)
			return -1;
		for (uint32_t k = 0; r->reading == READ_LATEST && k < c.count; k++) {
			uint32_t i = c.from + k;
			struct segment_element e = {.thread = i, .channel = CHANNEL_STATE};
			struct row row = {
				.thread = c.threads[k],
				.alive = &f->segment->alive,
				.finished = &c.segment->header->finished,
				.other = source_ticks_alike(f->segment) ? NULL : f->segment,
			};

			rows_add(r, f, STATE_KEY | i, &e, row, 0);
			e.channel = CHANNEL_USER;
			row.region = true;
			rows_add(r, f, REGION_KEY | i, &e, row, 0);
		}
		f->threads += c.count;
		if (c.count > 0 && clock_mono_ns() >= until_ns)
			return 1;
	} while (c.count > 0);
	return 0;
}

/* Find segments whose tables have grown: a few loads per segment. */
static int look(void *arg)
{
	struct rows *r = arg;

	for (r->looking = 0; r->looking < r->n_follows; r->looking++) {
		struct follow *f = &r->follows[r->looking];
		const struct segment *s = &f->segment->segment;
		uint32_t elements;

		f->changed = false;
		/* a file that was cut short would end each look */
		if (f->broken || f->off_map)
			continue;
		elements = segment_elements_readable(s);
		r->crowded |= segment_elements(s) > elements;
		f->changed = elements != f->elements || segment_threads(s) != f->threads ||
			     row_comms_changed(s, &f->comms) || row_labels_changed(s, &f->labels);
	}
	return 0;
}

/* Learn communicators and labels until @until_ns, but at least some. Returns 0, 1: there are
 * more, or -1: the file was cut short. */
static int rows_take_words(struct rows *r, struct follow *f, uint64_t until_ns)
{
	const struct segment *s = &f->segment->segment;
	int rc;

	do
		rc = row_comms_take(s, r->names, &f->comms);
	while (rc > 0 && clock_mono_ns() < until_ns);
	if (rc != 0)
		return rc;
	do
		rc = row_labels_take(s, r->names, &f->labels);
	while (rc > 0 && clock_mono_ns() < until_ns);
	return rc;
}

enum news rows_take(struct rows *r, struct follow *f, uint64_t until_ns)
{
	int rc = rows_take_elements(r, f, until_ns);

	if (rc == 0)
		rc = rows_take_words(r, f, until_ns);
	if (rc == 0)
		rc = rows_take_threads(r, f, until_ns);
	if (rc < 0)
		rows_lose(r, f);
	return rc > 0 ? NEWS_MORE : NEWS_SOME;
}

bool rows_look(struct rows *r)
{
	bool changed = false;

	while (segment_guarded(look, r) < 0)
		rows_lose(r, &r->follows[r->looking]);
	for (size_t i = 0; i < r->n_follows; i++)
		changed |= r->follows[i].changed;
	return !changed;
}

enum news rows_take_all(struct rows *r, uint64_t until_ns)
{
	enum news news = NEWS_NONE;

	if (rows_look(r))
		return NEWS_NONE;
	for (size_t i = 0; i < r->n_follows && news != NEWS_MORE; i++) {
		if (!r->follows[i].changed)
			continue;
		if (news == NEWS_SOME && clock_mono_ns() >= until_ns)
			return NEWS_MORE;
		news = rows_take(r, &r->follows[i], until_ns);
	}
	return news;
}
