/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of programs' own elements: which there are, and what is read of them in a wave. */
#include "node-agent/source/row-typed.h"

#include <stdio.h>
#include <string.h>

#include "node-agent/pastset/pastset-clock.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/row-private.h"
#include "tree/data/typed.h"

/* The channel in their names, and its number there: none of a trace element. */
#define TYPED_LABEL   "element"
#define TYPED_CHANNEL CHANNEL_MAX

/* Most of these rows of a source, and most of their tuples in a run. */
#define TYPED_ROWS  4096u
#define TYPED_CHUNK 240u

_Static_assert(TYPED_HEAD + TYPED_CHUNK * TYPED_TUPLE <= UINT16_MAX, "a run is counted in words");

/* ---- which ---- */

/* Does the pattern say that it is about them? */
static bool is_of_elements(const char *pattern)
{
	const char *last = strrchr(pattern, '/');
	size_t n = strlen(TYPED_LABEL);

	return last && strncmp(last + 1, TYPED_LABEL, n) == 0 &&
	       (!last[1 + n] || last[1 + n] == ':');
}

/* One that says so matches @name, or NULL: there is one at all. */
static bool names_one(char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (is_of_elements(patterns[i]) && (!name || pattern_match(patterns[i], name)))
			return true;
	return false;
}

/* By the consumer's patterns if it has any, else by the view's. */
static bool typed_wants(const struct rows *r, const char *name)
{
	const Evspace__Open *o = r->open;

	if (r->fetch[0] || r->samples)
		return false;
	return o->n_within > 0 ? names_one(o->within, o->n_within, name)
			       : names_one(o->select, o->n_select, name);
}

/* The next of the run's elements that this node shows, behind @m (NULL: the first); NULL: none. */
static const struct store_element *shown_next(const struct rows *r, const struct store_element *m,
					      bool first)
{
	m = m ? TAILQ_NEXT(m, link) : TAILQ_FIRST(&r->host->store->elements);
	while (m && (strcmp(m->run, r->run) != 0 ||
		     !source_shows(r->host, r->place, &m->file.said, first)))
		m = TAILQ_NEXT(m, link);
	return m;
}

static bool is_first(const struct rows *r)
{
	return r->place->placed && source_is_first(r->host);
}

size_t rows_count_typed(const struct rows *r)
{
	const struct store_element *m = NULL;
	size_t n = 0;
	bool first;

	if (!typed_wants(r, NULL))
		return 0;
	first = is_first(r);
	while ((m = shown_next(r, m, first)))
		n++;
	return n;
}

/* How much has been written, for a guarded read. */
struct typed_look {
	const struct pastset *file;
	uint64_t head;
};

static int head_read(void *arg)
{
	struct typed_look *look = arg;

	look->head = pastset_head(look->file);
	return 0;
}

/* Returns whether it has a row. */
static bool typed_take(struct rows *r, const struct store_element *m)
{
	const struct pastset_header *said = &m->file.said;
	struct typed_look look = {.file = &m->file};
	const struct cursor_key key = {.device = m->file.device,
				       .inode = m->file.inode,
				       .born = (uint64_t)said->born_real_ns};
	const struct row row = {.typed = true, .serial = m->serial, .capacity = said->capacity + 1};
	char text[NAME_BYTES], process[24] = "-";
	const struct row_name name = {text, pastset_rank(said), TYPED_CHANNEL, key.born};

	if (name.rank >= 0)
		snprintf(process, sizeof(process), "rank%d", (int)name.rank);
	if (snprintf(text, sizeof(text), "/%s/%s/%s/t0/" TYPED_LABEL ":%s",
		     r->place->cluster[0] ? r->place->cluster : "-", r->place->node, process,
		     said->name) >= NAME_BYTES ||
	    !typed_wants(r, text) || segment_guarded(head_read, &look) < 0)
		return false;
	return rows_put(r, &key, &name, row, r->from_now && !r->begun ? look.head : 0);
}

void rows_take_typed(struct rows *r)
{
	const struct store_element *m = NULL;
	unsigned n = 0;
	bool first;

	for (uint32_t i = 0; i < r->n; i++)
		r->table[i].typed = false;
	if (!typed_wants(r, NULL))
		return;
	first = is_first(r);
	while (n < TYPED_ROWS && (m = shown_next(r, m, first)))
		n += typed_take(r, m);
	r->crowded |= n == TYPED_ROWS && shown_next(r, m, first);
}

/* ---- reading ---- */

/* It may have been removed since its row was made. */
static const struct pastset *file_of(const struct rows *r, const struct row *row)
{
	const struct store_element *m = store_element_find(r->host->store, row->serial);

	return m ? &m->file : NULL;
}

/* Tuples on their way into a run. */
struct typed_chunk {
	uint64_t first, lost;
	uint32_t n;
	struct typed_word words[TYPED_CHUNK * TYPED_TUPLE], *end;
};

/* One wave after the other. */
static struct typed_chunk chunk;

/* Copy what is there of [from, to), at most @most, from the oldest on. None: it was all
 * overwritten. Ticks of another clock say nothing. */
static void chunk_read(struct typed_chunk *c, const struct pastset *file, uint64_t from,
		       uint64_t to, uint64_t most)
{
	/* whatever the file says, of no more than it can hold */
	uint64_t head = pastset_head(file), ticks;
	uint64_t oldest = pastset_oldest(file, head > to ? head : to);
	struct pastset_clock clock;
	char tuple[FIELDS_BYTES];

	pastset_clock_init(&clock, &file->said);
	clock.known &= file->said.clock_kind == (uint32_t)clock_kind();
	c->first = oldest > from ? oldest < to ? oldest : to : from;
	c->lost = c->first - from;
	c->n = 0;
	c->end = c->words;
	for (uint64_t i = c->first; i < to && c->n < TYPED_CHUNK && c->n < most; i++) {
		if (pastset_read(file, i, &ticks, tuple)) {
			c->end = typed_put(c->end, clock.known ? ticks : 0, tuple,
					   file->fields.bytes);
			c->n++;
		} else if (c->n == 0) {
			/* overwritten just now */
			c->first++;
			c->lost++;
		} else {
			break;
		}
	}
}

static void chunk_put(const struct typed_chunk *c, const struct row *row,
		      const struct pastset *file, const struct typed_wave *w)
{
	const char *type = file->said.fields;
	uint32_t head = typed_head_words(type), words = (uint32_t)(c->end - c->words);
	struct typed_word *to =
		batch_add(w->out, RUN_TYPED, row->name, c->first, head + words, c->lost);

	memcpy(typed_head(to, &file->fields, type), c->words, words * sizeof(*c->words));
	w->part->read += c->n;
	w->part->lost += c->lost;
}

/* Of one row [*from, to), as far as there is room. */
static void typed_read_range(const struct row *row, const struct pastset *file,
			     const struct typed_wave *w, uint64_t *from, uint64_t to)
{
	while (*from<to && * w->room> 0) {
		uint64_t each = sizeof(struct typed_word) * (1 + pastset_words(file->fields.bytes));
		uint64_t most = *w->room * sizeof(struct tuple) / each, used;

		chunk_read(&chunk, file, *from, to, most ? most : 1);
		chunk_put(&chunk, row, file, w);
		*from = chunk.first + chunk.n;
		used = (chunk.n * each + sizeof(struct tuple) - 1) / sizeof(struct tuple);
		*w->room -= used < *w->room ? (uint32_t)used : *w->room;
	}
}

/* What is new since the wave before, or what an earlier one had. */
static int typed_read_stream(const struct rows *r, const struct typed_wave *w, uint32_t i)
{
	const struct row *row = &r->table[i];
	const struct pastset *file = file_of(r, row);
	uint64_t at = cursor_from(r->cursor, i), head;

	/* it goes: the next wave says what is lost */
	head = file ? pastset_head(file) : at;
	if (w->wave == CURSOR_AGAIN) {
		uint64_t end = cursor_end(r->cursor, i);

		typed_read_range(row, file, w, &at, end < head ? end : head);
		return 0;
	}
	if (head < at)
		return -1;
	row_fill(row, at, head, w->fill);
	typed_read_range(row, file, w, &at, head);
	cursor_to(r->cursor, i, at);
	w->part->written += file ? head : 0;
	return 0;
}

static void typed_read_newest(const struct rows *r, const struct typed_wave *w, uint32_t i)
{
	const struct row *row = &r->table[i];
	const struct pastset *file = file_of(r, row);
	uint64_t head = file ? pastset_head(file) : 0;

	if (head == 0)
		return;
	chunk_read(&chunk, file, head - 1, head, 1);
	/* older ones are not read, and not counted */
	chunk.lost = 0;
	if (chunk.n > 0)
		chunk_put(&chunk, row, file, w);
	w->part->written += head;
}

int rows_read_typed(const struct rows *r, const struct typed_wave *w)
{
	for (uint32_t k = 0; k < r->n; k++) {
		/* each wave begins elsewhere */
		uint32_t i = (uint32_t)((k + w->ask->wave) % r->n);

		if (!r->table[i].typed)
			continue;
		*w->at = i;
		if (w->reading == READ_LATEST)
			typed_read_newest(r, w, i);
		else if (typed_read_stream(r, w, i) < 0)
			return -1;
	}
	return 0;
}

void rows_gone_typed(struct rows *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct row *row = &r->table[i];
		const struct store_element *m =
			row->typed ? store_element_find(r->host->store, row->serial) : NULL;
		struct typed_look look = {.file = m ? &m->file : NULL};

		if (!m || !m->going)
			continue;
		row->typed = false;
		row->end = segment_guarded(head_read, &look) == 0 ? look.head : 0;
		row->discarded = 0;
	}
}
