/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the elements and threads of a segment in as rows, from copies that were made guarded. */
#include <string.h>

#include "node-agent/label.h"
#include "node-agent/row-private.h"

/* State lines and regions have cursor keys of their own, behind those of any element. */
#define STATE_KEY  0x80000000u
#define REGION_KEY 0xc0000000u

/* Table entries copied out of a segment at a time. */
#define COPY 64u

/* What is copied out of a segment under the guard. */
struct copy {
	const struct segment *segment;
	uint32_t from, count; /* count of 0: not complete yet */
	struct segment_element elements[COPY];
	const struct segment_thread *threads[COPY];
	uint64_t heads[COPY];
	uint32_t cost_ps;
};

/* Give @e, element number @element (or a state line), its row and its name; @new has what is to be
 * read. */
static void rows_add(struct rows *r, struct follow *f, uint32_t element,
		     const struct segment_element *e, struct row new, uint64_t head)
{
	struct cursor_key key = {
		.device = f->segment->segment.device,
		.inode = f->segment->segment.inode,
		.born = f->segment->born.mono_ns,
		.element = element,
	};
	char text[NAME_BYTES];
	struct row_name name = {text, store_segment_rank(f->segment), e->channel};

	if (!rows_read_here(r, e) ||
	    label_name(text, r->place, f->segment, e, r->host->sites) < 0 ||
	    (r->fetch[0] && rows_fetch_name(r, f->segment, text) < 0))
		return;
	new.serial = f->serial;
	rows_put(r, f, &key, &name, new, head);
}

static int copy_elements(void *arg)
{
	struct copy *c = arg;
	uint32_t total = segment_elements(c->segment);

	c->cost_ps = segment_cost(c->segment);
	for (c->count = 0; c->count < COPY && c->from + c->count < total; c->count++) {
		const struct segment_element *e = segment_element(c->segment, c->from + c->count);
		const struct element_ring *ring;

		/* Entries are taken in order; one in the making holds up those behind it until next
		 * time. */
		if (!e)
			break;
		memcpy(&c->elements[c->count], e, sizeof(*e));
		ring = segment_ring(c->segment, &c->elements[c->count]);
		c->heads[c->count] = ring ? element_head(ring) : 0;
	}
	return 0;
}

int rows_take_elements(struct rows *r, struct follow *f)
{
	struct copy c = {.segment = &f->segment->segment};

	do {
		c.from = f->elements;
		if (segment_guarded(copy_elements, &c) < 0)
			return -1;
		for (uint32_t i = 0; i < c.count; i++) {
			const struct segment_element *e = &c.elements[i];
			struct row row = {
				.ring = segment_ring(c.segment, e),
				.alive = &f->segment->alive,
				.finished = &c.segment->header->finished,
				.mark = segment_mark(c.segment, f->elements + i),
				.other = source_ticks_alike(f->segment) ? NULL : f->segment,
				.lifetime_ns =
					c.segment->said.lifetime_ns[e->channel % CHANNEL_MAX],
				.capacity = e->capacity,
				.inverse = element_inverse(e->capacity),
				.cost_ps = c.cost_ps,
			};

			if (row.ring)
				rows_add(r, f, f->elements + i, e, row, c.heads[i]);
		}
		f->elements += c.count;
	} while (c.count > 0);
	return 0;
}

static int take_threads(void *arg)
{
	struct copy *c = arg;
	uint32_t total = segment_threads(c->segment);

	for (c->count = 0; c->count < COPY && c->from + c->count < total; c->count++) {
		c->threads[c->count] = segment_thread(c->segment, c->from + c->count);
		if (!c->threads[c->count])
			break;
	}
	return 0;
}

int rows_take_threads(struct rows *r, struct follow *f)
{
	struct copy c = {.segment = &f->segment->segment};

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
	} while (c.count > 0);
	return 0;
}
