/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a source's table of elements in step with the store, and says the names of what is new. */
#include "node-agent/row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/label.h"
#include "node-agent/row-label.h"
#include "node-agent/segment-label.h"
#include "tree/process.h"

/* State lines have cursor keys of their own, behind those of any element. */
#define STATE_KEY 0x80000000u

/* Table entries copied out of a segment at a time. */
#define COPY 64u

/* A segment that this source reads, and how much of its tables has been taken in. */
struct follow {
	uint64_t serial;
	const struct store_segment *segment;
	char name[sizeof(((struct store_segment *)0)->name)];
	uint32_t elements, threads, comms, labels;
	bool changed, broken;
};

struct rows {
	const struct source_host *host;
	const struct plan_place *place;
	struct names *names;
	char run[64];
	unsigned char id[16];
	bool from_now;
	bool begun; /* the first refresh is over: what comes now is new, and read from its first
		       tuple */
	enum reading reading;
	const Evspace__Open *open; /* of the scope; its patterns */
	uint64_t version;	   /* of the store, when its list was last looked at */
	struct follow *follows;
	size_t n_follows;
	struct row *table;
	uint32_t n, room;
	struct cursor *cursor;
	struct error complaint;	 /* of the cursors, said last */
	struct clock_pair born;	 /* the oldest pair that is known of this host's clock */
	volatile size_t looking; /* the follow that is being looked at under the guard */
};

/* What is copied out of a segment under the guard. */
struct copy {
	const struct segment *segment;
	uint32_t from, count; /* count of 0: not complete yet */
	union {
		struct segment_element elements[COPY];
		struct segment_comm comms[COPY];
	} as;
	uint64_t heads[COPY];
	uint64_t lifetimes_ns[CHANNEL_MAX];
	uint32_t cost_ps;
	int32_t *members;
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
	r->open = open;
	r->born = host->born;
	return r;
}

void rows_free(struct rows *r, bool keep)
{
	if (!r)
		return;
	cursor_close(r->cursor, keep);
	free(r->follows);
	free(r->table);
	free(r);
}

/* ---- which run, which segments ---- */

/* What the entry could not resolve, each leaf does by itself. */
static void rows_choose_run(struct rows *r)
{
	if (!r->run[0])
		snprintf(r->run, sizeof(r->run), "%s", store_run_newest(r->host->store));
}

static bool rows_open_cursor(struct rows *r)
{
	char dir[sizeof(r->host->store->base) + sizeof(r->run) + 2];
	struct error e;

	if (r->cursor)
		return true;
	if (r->n_follows == 0) {
		/* Nothing of the run is here, so what comes is new. */
		r->begun = true;
		return false;
	}
	snprintf(dir, sizeof(dir), "%s/%s", r->host->store->base, r->run);
	r->cursor = cursor_open(r->reading == READ_STREAM ? dir : NULL, r->id, r->host->node, &e);
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
static void follow_rename(struct follow *f)
{
	if (strcmp(f->name, f->segment->name) == 0)
		return;
	snprintf(f->name, sizeof(f->name), "%s", f->segment->name);
	f->elements = f->threads = 0;
}

static struct follow *rows_follow(struct rows *r, const struct store_segment *s)
{
	struct follow *more;

	for (size_t i = 0; i < r->n_follows; i++) {
		if (r->follows[i].serial == s->serial) {
			follow_rename(&r->follows[i]);
			return &r->follows[i];
		}
	}
	more = realloc(r->follows, (r->n_follows + 1) * sizeof(*more));
	if (!more)
		abort();
	r->follows = more;
	more = &more[r->n_follows++];
	*more = (struct follow){.serial = s->serial, .segment = s};
	snprintf(more->name, sizeof(more->name), "%s", s->name);
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
		if (s)
			r->follows[kept++] = r->follows[i];
		else
			rows_drop(r, r->follows[i].serial);
	}
	r->n_follows = kept;
	TAILQ_FOREACH (s, &r->host->store->segments, link) {
		if (strcmp(s->run, r->run) != 0 || !source_holds(r->host, r->place, s))
			continue;
		rows_follow(r, s);
		if (s->born.mono_ns < r->born.mono_ns)
			r->born = s->born;
	}
}

/* ---- what is in them ---- */

bool source_selects(char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (pattern_match(patterns[i], name))
			return true;
	}
	return false;
}

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

/* Give @e, element number @element (or a state line), its row and its name; @new has what is to be
 * read. */
static void rows_add(struct rows *r, const struct follow *f, uint32_t element,
		     const struct segment_element *e, struct row new, uint64_t head)
{
	struct cursor_key key = {
		.device = f->segment->segment.device,
		.inode = f->segment->segment.inode,
		.born = f->segment->born.mono_ns,
		.element = element,
	};
	char name[NAME_BYTES];
	uint32_t number;

	if (label_name(name, r->place, f->segment, e, r->host->sites) < 0 || !rows_selects(r, name))
		return;
	number = cursor_row(r->cursor, &key, r->from_now && !r->begun ? head : 0);
	if (number > NAME_LOCAL_MAX)
		return;
	new.name = name_id(r->place->index, number);
	new.serial = f->serial;
	*rows_room(r, number) = new;
	names_learn(r->names, new.name, LEVEL_ELEMENT, f->segment->world ? -1 : f->segment->rank,
		    e->channel, name);
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
		memcpy(&c->as.elements[c->count], e, sizeof(*e));
		ring = segment_ring(c->segment, e);
		c->heads[c->count] = ring ? element_head(ring) : 0;
	}
	return 0;
}

static int copy_comms(void *arg)
{
	struct copy *c = arg;
	uint32_t total = segment_comms(c->segment);
	const struct segment_comm *comm;

	c->count = 0;
	comm = c->from < total ? segment_comm(c->segment, c->from) : NULL;
	if (!comm)
		return 0;
	memcpy(&c->as.comms[0], comm, sizeof(*comm));
	c->count = 1;
	return 0;
}

static int copy_members(void *arg)
{
	struct copy *c = arg;

	for (uint32_t i = 0; i < c->as.comms[0].size; i++)
		c->members[i] = segment_member(c->segment, &c->as.comms[0], i);
	return 0;
}

static int rows_take_elements(struct rows *r, struct follow *f)
{
	struct copy c = {.segment = &f->segment->segment};

	do {
		c.from = f->elements;
		if (segment_guarded(copy_elements, &c) < 0)
			return -1;
		for (uint32_t i = 0; i < c.count; i++) {
			const struct segment_element *e = &c.as.elements[i];
			struct row row = {
				.ring = segment_ring(c.segment, e),
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

static int rows_take_comms(struct rows *r, struct follow *f)
{
	struct copy c = {.segment = &f->segment->segment};
	const struct segment_comm *comm = &c.as.comms[0];
	bool listed;

	for (;;) {
		c.from = f->comms;
		if (segment_guarded(copy_comms, &c) < 0)
			return -1;
		if (c.count == 0)
			return 0;
		listed = comm->members != SEGMENT_MEMBERS_WORLD &&
			 comm->members != SEGMENT_MEMBERS_UNKNOWN &&
			 comm->size <= c.segment->layout.members_max;
		c.members = listed ? calloc(comm->size ? comm->size : 1, sizeof(int32_t)) : NULL;
		if (listed && (!c.members || segment_guarded(copy_members, &c) < 0)) {
			free(c.members);
			return -1;
		}
		/* All members record it, and once is enough; but PVM's tasks each say that they are
		 * in a group. */
		if (!names_comm_find(r->names, comm->id) ||
		    (c.members && comm->size && process_is_task(c.members[0])))
			names_comm_learn(r->names, comm->id, comm->parent, comm->size,
					 comm->members == SEGMENT_MEMBERS_WORLD, c.members);
		free(c.members);
		f->comms++;
	}
}

static void rows_lose(struct rows *r, struct follow *f)
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
		const struct segment_element e = {.thread = i, .channel = CHANNEL_STATE};
		struct row row = {
			.thread = segment_thread(c.segment, i),
			.alive = &f->segment->alive,
		};

		rows_add(r, f, STATE_KEY | i, &e, row, 0);
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
			!f->broken &&
			(segment_elements(s) != f->elements || segment_threads(s) != f->threads ||
			 segment_comms(s) != f->comms || segment_labels(s) != f->labels);
	}
	return 0;
}

bool rows_refresh(struct rows *r)
{
	bool grown = false;

	if (r->version != r->host->store->version) {
		rows_choose_run(r);
		rows_match_store(r);
		r->version = r->host->store->version;
	}
	if (!rows_open_cursor(r))
		return false;
	while (segment_guarded(rows_look, r) < 0)
		rows_lose(r, &r->follows[r->looking]);
	for (size_t i = 0; i < r->n_follows; i++) {
		struct follow *f = &r->follows[i];

		grown = grown || f->changed;
		if (f->changed && (rows_take_elements(r, f) < 0 || rows_take_comms(r, f) < 0 ||
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

	for (size_t i = 0; i < r->n_follows; i++)
		n += r->follows[i].segment->alive;
	return n;
}

struct clock_line rows_clock(const struct rows *r)
{
	return clock_line_through(clock_kind(), r->born, clock_pair_take(clock_kind()),
				  r->host->epoch_ns);
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
	return -1;
}
