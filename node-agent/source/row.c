/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a source's table of elements in step with the store, and announces new names. */
#include "node-agent/source/row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "node-agent/source/row-private.h"
#include "node-agent/source/row-typed.h"
#include "node-agent/store/store-run.h"
#include "tree/data/turn.h"

/* How long a consumer may come back if it does not say, and how much longer its cursors stay. */
#define PATIENCE_MS 120000u
#define SPARE_NS    10000000000u

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
	if (r->reading == READ_STREAM && host->streams)
		LIST_INSERT_HEAD(host->streams, r, stream);
	r->open = open;
	r->samples = open->sample[0] != '\0';
	r->resting = true;
	r->born = host->clock->born;
	return r;
}

/* A fetching node needs no cursor file: it knows by the tuples' numbers what it has. */
static bool rows_has_file(const struct rows *r)
{
	return r->reading == READ_STREAM && !r->fetch[0];
}

/* When memory is needed, runs that are not held are removed first. A fetched one is held until
 * it has ended and has arrived. */
static void follow_hold(const struct rows *r, struct follow *f, struct store_segment *s)
{
	if (f->fetched)
		return;
	if (!f->held)
		store_hold(s);
	else
		store_hold_again(s);
	f->fetched = r->fetch[0] && !s->alive && !rows_behind(r->host, s);
	f->held = !f->fetched;
	if (f->fetched)
		store_release(r->host->store, f->serial);
}

static void follow_release(struct rows *r, struct follow *f)
{
	follow_forget_heads(r, f);
	follow_tell_end(f);
	if (f->held)
		store_release(r->host->store, f->serial);
}

void rows_free(struct rows *r, bool keep)
{
	if (!r)
		return;
	rows_sample_end(r, keep);
	for (size_t i = 0; i < r->n_follows; i++)
		follow_release(r, &r->follows[i]);
	if (!r->resting)
		sites_release(r->host->sites);
	if (r->fetch[0])
		LIST_REMOVE(r, fetched);
	if (r->reading == READ_STREAM && r->host->streams)
		LIST_REMOVE(r, stream);
	cursor_close(r->cursor, keep);
	free(r->follows);
	free(r->table);
	free(r);
}

/* ---- runs and segments ---- */

static const struct plan_place *rows_place(const struct rows *r)
{
	return r->fetch[0] ? NULL : r->place;
}

/* Bytes of the path of the run's folder, which has the cursor files. */
#define ROW_FOLDER 512

static void rows_folder(const struct rows *r, char *buf)
{
	snprintf(buf, ROW_FOLDER, "%s/%s", r->host->store->base, r->run);
}

/* Choose the run, if the entry could not. */
static void rows_choose_run(struct rows *r)
{
	if (!r->run[0])
		snprintf(r->run, sizeof(r->run), "%s",
			 store_run_newest(r->host->store, r->open->wait));
}

void rows_complain(struct rows *r, const struct error *e)
{
	bool again = strcmp(r->diagnostic.text, e->text) == 0;

	r->refused = errno;
	r->diagnostic = *e;
	if (!again)
		source_log(r->host, e);
}

/* Report once that elements without rows are not read, and are in no account. */
static void rows_tell_crowded(struct rows *r)
{
	struct error e;

	if (!r->crowded || r->told)
		return;
	r->told = true;
	(void)errorf(&e,
		     "run %s has too many elements on %s: of one process, and of all that a view "
		     "selects, %u are read at most; select or split fewer",
		     r->run, r->host->node, SEGMENT_ELEMENTS_READ);
	source_log(r->host, &e);
}

static bool rows_open_cursor(struct rows *r)
{
	const struct cursor_owner owner = {
		.peer = r->open->peer,
		.keep_ns = (r->open->patience_ms ? r->open->patience_ms : PATIENCE_MS) *
				   UINT64_C(1000000) +
			   SPARE_NS,
		.shelf = r->host->shelf,
	};
	char dir[ROW_FOLDER];
	struct error e;

	if (r->cursor)
		return true;
	r->refused = 0;
	if (r->n_follows == 0 && r->n_mirrors == 0) {
		/* Nothing of the run is here yet, so all that comes is new. */
		r->begun = true;
		return false;
	}
	rows_folder(r, dir);
	r->cursor = cursor_open(rows_has_file(r) ? dir : NULL, r->id, r->host->node, &owner, &e);
	if (!r->cursor) {
		rows_complain(r, &e);
		return false;
	}
	/* What came while the agent was away is new, too. */
	r->begun = r->begun || cursor_resumed(r->cursor);
	return true;
}

/* A newer process of its rank has changed its name: make rows of all its elements again. */
static void follow_rename(const struct rows *r, struct follow *f)
{
	char name[sizeof(f->name)];

	rows_process(r, f->segment, name, sizeof(name));
	if (strcmp(f->name, name) == 0)
		return;
	memcpy(f->name, name, sizeof(f->name));
	f->elements = f->threads = 0;
}

/* The map has the process here again: its rows continue where they stopped. */
static void follow_get_back(struct follow *f)
{
	if (!f->off_map)
		return;
	f->off_map = false;
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

void rows_drop(struct rows *r, uint64_t serial)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->table[i].serial == serial) {
			r->table[i].ring = NULL;
			r->table[i].thread = NULL;
			r->table[i].typed = false;
		}
	}
}

/* A stream must be able to repeat what it has read, even if the map has moved the process away. */
static bool rows_keeps(struct rows *r, struct follow *f)
{
	if (r->fetch[0] || source_holds(r->host, r->place, f->segment))
		return true;
	if (r->reading != READ_STREAM)
		return false;
	for (uint32_t i = 0; i < r->n && !f->off_map; i++) {
		if (r->table[i].serial == f->serial)
			r->table[i].off_map = true;
	}
	f->off_map = true;
	return true;
}

/* Drop segments that the store has dropped, and follow new ones. */
static void rows_match_store(struct rows *r)
{
	struct store_segment *s;
	struct follow *f;
	size_t kept = 0;

	for (size_t i = 0; i < r->n_follows; i++) {
		TAILQ_FOREACH (s, &r->host->store->segments, link) {
			if (s->serial == r->follows[i].serial)
				break;
		}
		f = &r->follows[i];
		if (s && rows_keeps(r, f)) {
			r->follows[kept++] = *f;
			continue;
		}
		follow_release(r, f);
		rows_drop(r, f->serial);
	}
	r->n_follows = kept;
	TAILQ_FOREACH (s, &r->host->store->segments, link) {
		if ((!r->fetch[0] && strcmp(s->run, r->run) != 0) ||
		    !source_holds(r->host, rows_place(r), s))
			continue;
		f = rows_follow(r, s);
		follow_hold(r, f, s);
		if (source_ticks_alike(s))
			r->born = clock_host_older(r->host->clock, r->born, s->born);
	}
	r->n_mirrors = rows_count_mirrors(r) + rows_count_typed(r);
}

/* ---- their elements ---- */

static bool rows_selects(const struct rows *r, const char *name)
{
	const Evspace__Open *o = r->open;

	return source_selects(o->select, o->n_select, name) &&
	       (o->n_within == 0 || source_selects(o->within, o->n_within, name));
}

struct row *rows_room(struct rows *r, uint32_t number)
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
			return f->broken || f->elements >= segment_elements_readable(&s->segment);
	}
	return false;
}

bool rows_put(struct rows *r, const struct cursor_key *key, const struct row_name *name,
	      struct row new, uint64_t start)
{
	const struct row *old;
	uint32_t number;

	if (r->samples != (name->channel == CHANNEL_SAMPLE) || !rows_selects(r, name->text))
		return false;
	number = cursor_row(r->cursor, key, start);
	if (number > NAME_LOCAL_MAX) {
		r->crowded = true;
		return false;
	}
	old = rows_room(r, number);
	new.name = name_id(r->place->index, number);
	new.acked = old->acked;
	r->table[number] = new;
	names_learn_born(r->names,
			 &(struct name){new.name, name->rank, LEVEL_ELEMENT, name->channel,
					(char *)(uintptr_t)name->text, name->born});
	return true;
}

void rows_lose(struct rows *r, struct follow *f)
{
	f->broken = true;
	rows_drop(r, f->serial);
}

/* Keep the files that call sites are resolved from open until nothing is new. */
static void rows_rest(struct rows *r, enum news news)
{
	bool rests = news != NEWS_MORE;

	if (rests && !r->resting)
		sites_release(r->host->sites);
	if (!rests && r->resting)
		sites_hold(r->host->sites);
	r->resting = rests;
	if (news == NEWS_NONE)
		sites_rest(r->host->sites);
}

bool rows_begin(struct rows *r)
{
	bool changed = r->version != r->host->store->version || r->replaced;

	if (changed) {
		rows_choose_run(r);
		r->unreadable = source_unreadable(r->host, rows_place(r), r->run);
	}
	/* if it is fetched, a process also changes its name when it ends */
	if (changed || r->fetch[0])
		rows_match_store(r);
	r->version = r->host->store->version;
	r->replaced = false;
	if (!rows_open_cursor(r))
		return false;
	rows_sample(r);
	if (changed || !r->begun) {
		rows_take_mirrors(r);
		rows_take_typed(r);
	}
	if (!r->begun)
		rows_note_older(r);
	r->begun = true;
	return true;
}

bool rows_refresh(struct rows *r)
{
	uint64_t until_ns = clock_mono_ns() + TURN_NS;
	enum news news;

	if (!rows_begin(r))
		return true;
	news = rows_take_all(r, until_ns);
	rows_rest(r, news);
	rows_tell_crowded(r);
	/* In a resumed cursor file, rows of removed segments have a position, but nothing to
	 * read. */
	if (cursor_rows(r->cursor) > r->n)
		rows_room(r, cursor_rows(r->cursor) - 1);
	/* if it fails, the next wave tries again and reports why */
	(void)cursor_sync(r->cursor);
	return news != NEWS_MORE;
}

bool rows_ready(struct rows *r)
{
	if (r->version != r->host->store->version || r->replaced || r->fetch[0] || !r->resting)
		return false;
	if (!r->cursor)
		return r->n_follows == 0 && r->n_mirrors == 0;
	if (!rows_look(r))
		return false;
	rows_rest(r, NEWS_NONE);
	return true;
}

void rows_replace(struct rows *r, const struct plan_place *place)
{
	bool renamed = strcmp(r->place->cluster, place->cluster) != 0;

	r->place = place;
	r->replaced = true;
	for (size_t i = 0; renamed && i < r->n_follows; i++)
		r->follows[i].elements = r->follows[i].threads = 0;
}

int rows_refused(const struct rows *r, struct error *e)
{
	/* If two scopes have the same id the other one has the cursors: later waves of this
	 * bring what is new. */
	if ((r->cursor && r->sampled == r->samples) || r->refused == 0 || r->refused == EWOULDBLOCK)
		return 0;
	*e = r->diagnostic;
	errno = r->refused;
	return -1;
}

int rows_commit(struct rows *r, struct error *e)
{
	char dir[ROW_FOLDER];

	if (cursor_commit(r->cursor) == 0)
		return 0;
	rows_folder(r, dir);
	return cursor_refused(dir, e);
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

	/* a process with tuples still to be fetched counts as living */
	for (size_t i = 0; i < r->n_follows; i++)
		n += !r->follows[i].off_map &&
		     (r->follows[i].segment->alive || rows_behind(r->host, r->follows[i].segment));
	return n;
}

uint32_t rows_unreadable(const struct rows *r)
{
	uint32_t n = r->unreadable;

	for (size_t i = 0; i < r->n_follows; i++)
		n += r->follows[i].broken && !r->follows[i].off_map;
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
	if (!r->table[at].ring && !r->table[at].typed)
		return -1;
	rows_drop(r, r->table[at].serial);
	return 0;
}
