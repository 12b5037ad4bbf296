/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a source's table of elements in step with the store, and says the names of what is new. */
#include "node-agent/row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/label.h"
#include "node-agent/row-label.h"
#include "node-agent/row-private.h"
#include "node-agent/segment-label.h"
#include "node-agent/store-run.h"
#include "pathmap/holding.h"
#include "tree/process.h"

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
	uint64_t heads[COPY];
	uint64_t lifetimes_ns[CHANNEL_MAX];
	uint32_t cost_ps;
};

struct rows *rows_new(const struct source_host *host, const Evspace__Open *open,
		      const struct plan_place *place, struct names *names)
{
	struct rows *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->host = host;
	r->place = place;
	r->names = names;
	snprintf(r->run, sizeof(r->run), "%s", open->run);
	memcpy(r->id, open->id.data, sizeof(r->id));
	r->reading = open->reading == READ_STREAM ? READ_STREAM : READ_LATEST;
	r->from_now = r->reading == READ_STREAM && !open->backlog;
	snprintf(r->fetch, sizeof(r->fetch), "%s", open->fetch);
	if (r->fetch[0])
		LIST_INSERT_HEAD(host->fetched, r, fetched);
	r->open = open;
	r->born = host->born;
	return r;
}

void rows_free(struct rows *r, bool keep)
{
	if (!r)
		return;
	if (r->fetch[0])
		LIST_REMOVE(r, fetched);
	cursor_close(r->cursor, keep);
	free(r->follows);
	free(r->table);
	free(r);
}

/* ---- which run, which segments ---- */

const struct plan_place *rows_place(const struct rows *r)
{
	return r->fetch[0] ? NULL : r->place;
}

void rows_folder(const struct rows *r, char *buf)
{
	snprintf(buf, ROW_FOLDER, "%s/%s", r->host->store->base, r->run);
}

/* What the entry could not resolve, each leaf does by itself. */
static void rows_choose_run(struct rows *r)
{
	if (!r->run[0])
		snprintf(r->run, sizeof(r->run), "%s", store_run_newest(r->host->store));
}

static bool rows_open_cursor(struct rows *r)
{
	char dir[ROW_FOLDER];
	struct error e;

	if (r->cursor)
		return true;
	if (r->n_follows == 0 && r->n_mirrors == 0) {
		/* Nothing of the run is here, so what comes is new. */
		r->begun = true;
		return false;
	}
	rows_folder(r, dir);
	/* Who fetches knows by numbers what it has: it needs no file. */
	r->cursor = cursor_open(r->reading == READ_STREAM && !r->fetch[0] ? dir : NULL, r->id,
				r->host->node, &e);
	if (!r->cursor) {
		if (strcmp(r->complaint.text, e.text) != 0)
			fprintf(stderr, "evspace: %s\n", e.text);
		r->complaint = e;
		return false;
	}
	/* What came while the agent was away is new as well. */
	r->begun = r->begun || cursor_resumed(r->cursor);
	return true;
}

/* A process that is not its rank's newest any more has another name: take all its elements in
 * again. */
static void follow_rename(const struct rows *r, struct follow *f)
{
	char name[sizeof(f->name)];

	rows_process(r, f->segment, name, sizeof(name));
	if (strcmp(f->name, name) == 0)
		return;
	memcpy(f->name, name, sizeof(f->name));
	f->elements = f->threads = 0;
}

/* It was given away, and is to be read here again. */
static void follow_get_back(struct follow *f)
{
	if (!f->given)
		return;
	f->given = false;
	f->elements = f->threads = 0;
}

static struct follow *rows_follow(struct rows *r, const struct store_segment *s)
{
	struct follow *more;

	for (size_t i = 0; i < r->n_follows; i++) {
		if (r->follows[i].serial == s->serial) {
			follow_rename(r, &r->follows[i]);
			follow_get_back(&r->follows[i]);
			return &r->follows[i];
		}
	}
	more = realloc(r->follows, (r->n_follows + 1) * sizeof(*more));
	if (!more)
		abort();
	r->follows = more;
	more = &more[r->n_follows++];
	*more = (struct follow){.serial = s->serial, .segment = s};
	rows_process(r, s, more->name, sizeof(more->name));
	return more;
}

static void rows_drop(struct rows *r, uint64_t serial)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->table[i].serial == serial) {
			r->table[i].ring = NULL;
			r->table[i].thread = NULL;
		}
	}
}

/* What a stream has read is told again from here, also when the process is another node's now. */
static bool rows_keeps(struct rows *r, struct follow *f)
{
	if (r->fetch[0] || source_holds(r->host, r->place, f->segment))
		return true;
	if (r->reading == READ_STREAM)
		rows_give(r, f);
	return r->reading == READ_STREAM;
}

/* Did the map before have the process on another node? */
static bool rows_moved(const struct rows *r, const struct store_segment *s)
{
	const struct plan_place *place = rows_place(r);

	return place && place->before && !process_is_task(s->rank) && !s->world && s->rank >= 0 &&
	       holding_has(place->before, (unsigned)s->rank);
}

/* Let go of segments that the store has let go of, and follow those that came. */
static void rows_match_store(struct rows *r)
{
	const struct store_segment *s;
	size_t kept = 0;

	for (size_t i = 0; i < r->n_follows; i++) {
		TAILQ_FOREACH (s, &r->host->store->segments, link) {
			if (s->serial == r->follows[i].serial)
				break;
		}
		if (!s || !rows_keeps(r, &r->follows[i]))
			rows_drop(r, r->follows[i].serial);
		else
			r->follows[kept++] = r->follows[i];
	}
	r->n_follows = kept;
	TAILQ_FOREACH (s, &r->host->store->segments, link) {
		if ((!r->fetch[0] && strcmp(s->run, r->run) != 0) ||
		    !source_holds(r->host, rows_place(r), s))
			continue;
		rows_follow(r, s)->moved = rows_moved(r, s);
		if (s->born.mono_ns < r->born.mono_ns)
			r->born = s->born;
	}
	r->n_mirrors = rows_count_mirrors(r);
}

/* ---- what is in them ---- */

static bool rows_selects(const struct rows *r, const char *name)
{
	const Evspace__Open *o = r->open;

	return source_selects(o->select, o->n_select, name) &&
	       (o->n_within == 0 || source_selects(o->within, o->n_within, name));
}

static struct row *rows_room(struct rows *r, uint32_t number)
{
	if (number >= r->room) {
		uint32_t room = number + 1 < 64 ? 64 : 2 * (number + 1);
		struct row *more = realloc(r->table, room * sizeof(*more));

		if (!more)
			abort();
		memset(&more[r->room], 0, (room - r->room) * sizeof(*more));
		r->table = more;
		r->room = room;
	}
	if (number >= r->n)
		r->n = number + 1;
	return &r->table[number];
}

bool rows_have_all(const struct rows *r, const struct store_segment *s)
{
	for (size_t i = 0; i < r->n_follows; i++) {
		const struct follow *f = &r->follows[i];

		if (f->serial == s->serial)
			return f->broken || f->elements >= segment_elements(&s->segment);
	}
	return false;
}

void rows_put(struct rows *r, struct follow *f, const struct cursor_key *key,
	      const struct row_name *name, struct row new, uint64_t head)
{
	const struct row *old;
	uint32_t number;

	if (!rows_selects(r, name->text))
		return;
	number = rows_number(r, f, key, r->from_now && !r->begun ? head : 0, &new.given);
	if (number > NAME_LOCAL_MAX)
		return;
	old = rows_room(r, number);
	new.name = name_id(r->place->index, number);
	new.acked = old->acked;
	r->table[number] = new;
	names_learn(r->names, new.name, LEVEL_ELEMENT, name->rank, name->channel, name->text);
}

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

	c->cost_ps = c->segment->header->cost_ps;
	memcpy(c->lifetimes_ns, c->segment->header->lifetime_ns, sizeof(c->lifetimes_ns));
	for (c->count = 0; c->count < COPY && c->from + c->count < total; c->count++) {
		const struct segment_element *e = segment_element(c->segment, c->from + c->count);
		const struct element_ring *ring;

		/* Entries are taken in order; one in the making holds up those behind it until next
		 * time. */
		if (!e)
			break;
		memcpy(&c->elements[c->count], e, sizeof(*e));
		ring = segment_ring(c->segment, e);
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
				.lifetime_ns = c.lifetimes_ns[e->channel % CHANNEL_MAX],
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

void rows_lose(struct rows *r, struct follow *f)
{
	f->broken = true;
	rows_drop(r, f->serial);
}

static int take_threads(void *arg)
{
	struct copy *c = arg;
	uint32_t total = segment_threads(c->segment);

	for (c->count = 0; c->from + c->count < total; c->count++) {
		if (!segment_thread(c->segment, c->from + c->count))
			break;
	}
	return 0;
}

static int rows_take_threads(struct rows *r, struct follow *f)
{
	struct copy c = {.segment = &f->segment->segment, .from = f->threads};

	if (segment_guarded(take_threads, &c) < 0)
		return -1;
	for (uint32_t i = c.from; r->reading == READ_LATEST && i < c.from + c.count; i++) {
		struct segment_element e = {.thread = i, .channel = CHANNEL_STATE};
		struct row row = {
			.thread = segment_thread(c.segment, i),
			.alive = &f->segment->alive,
			.finished = &c.segment->header->finished,
		};

		rows_add(r, f, STATE_KEY | i, &e, row, 0);
		e.channel = CHANNEL_USER;
		row.region = true;
		rows_add(r, f, REGION_KEY | i, &e, row, 0);
	}
	f->threads = c.from + c.count;
	return 0;
}

/* Whose tables have grown: a load or three per segment. */
static int rows_look(void *arg)
{
	struct rows *r = arg;

	for (r->looking = 0; r->looking < r->n_follows; r->looking++) {
		struct follow *f = &r->follows[r->looking];
		const struct segment *s = &f->segment->segment;

		f->changed =
			!f->broken && !f->given &&
			(segment_elements(s) != f->elements || segment_threads(s) != f->threads ||
			 segment_comms(s) != f->comms.seen || segment_labels(s) != f->labels);
	}
	return 0;
}

bool rows_refresh(struct rows *r)
{
	bool grown = false, changed = r->version != r->host->store->version || r->replaced;

	if (changed)
		rows_choose_run(r);
	/* where it is fetched, also a process that ended has another name */
	if (changed || r->fetch[0])
		rows_match_store(r);
	r->version = r->host->store->version;
	r->replaced = false;
	if (!rows_open_cursor(r))
		return false;
	if (changed || !r->begun)
		rows_take_mirrors(r);
	while (segment_guarded(rows_look, r) < 0)
		rows_lose(r, &r->follows[r->looking]);
	for (size_t i = 0; i < r->n_follows; i++) {
		struct follow *f = &r->follows[i];

		grown = grown || f->changed;
		if (f->changed && (rows_take_elements(r, f) < 0 ||
				   row_comms_take(&f->segment->segment, r->names, &f->comms) < 0 ||
				   rows_take_threads(r, f) < 0 ||
				   row_labels_take(&f->segment->segment, r->names, &f->labels) < 0))
			rows_lose(r, f);
	}
	/* Rows of a resumed cursor file whose segments are gone have a position, but nothing to
	 * read. */
	if (cursor_rows(r->cursor) > r->n)
		rows_room(r, cursor_rows(r->cursor) - 1);
	r->begun = true;
	return grown;
}

uint32_t rows_count(const struct rows *r)
{
	return r->n;
}

const struct row *rows_table(const struct rows *r)
{
	return r->table;
}

struct cursor *rows_cursor(const struct rows *r)
{
	return r->cursor;
}

uint32_t rows_processes(const struct rows *r)
{
	uint32_t n = 0;

	/* What is still to be fetched is as if it were yet to come. */
	for (size_t i = 0; i < r->n_follows; i++)
		n += !r->follows[i].given &&
		     (r->follows[i].segment->alive || rows_behind(r->host, r->follows[i].segment));
	return n;
}

/* Of a file that nothing can be told of but its name, whose it is follows from that. */
static bool rows_means(const struct rows *r, const struct store_refusal *refusal)
{
	return refusal->unreadable && strcmp(refusal->run, r->run) == 0 &&
	       (refusal->rank < 0 || process_is_task(refusal->rank) ||
		source_may_hold(r->host, rows_place(r), refusal->rank));
}

uint32_t rows_unreadable(const struct rows *r)
{
	const struct store_refusal *refusal;
	uint32_t n = 0;

	for (size_t i = 0; i < r->n_follows; i++)
		n += r->follows[i].broken && !r->follows[i].given;
	TAILQ_FOREACH (refusal, &r->host->store->refusals, link)
		n += rows_means(r, refusal);
	return n;
}

int rows_break(struct rows *r, uint32_t at)
{
	if (at >= r->n || r->table[at].serial == 0)
		return -1;
	for (size_t i = 0; i < r->n_follows; i++) {
		if (r->follows[i].serial == r->table[at].serial && !r->follows[i].broken) {
			rows_lose(r, &r->follows[i]);
			return 0;
		}
	}
	if (!r->table[at].ring)
		return -1;
	rows_drop(r, r->table[at].serial);
	return 0;
}
