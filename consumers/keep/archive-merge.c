/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads all archives twice: first what is in them, then their waves by the time when they were
 * taken, each of which becomes a wave of the new archive. */
#include "consumers/keep/archive-merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/archive/archive-writer.h"
#include "consumers/cli/command.h"
#include "consumers/cli/options.h"
#include "consumers/cli/status-line.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-client.h"
#include "consumers/client/delivery.h"
#include "consumers/keep/archive-cut.h"
#include "consumers/keep/counts-merge.h"
#include "consumers/keep/merging.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/data/columns-batch.h"

/* A wave is not larger, though what has waited comes together. */
#define WAVE_BYTES ((size_t)8 << 20)

/* Of the reading that is going on: the sum of what was read of each archive, if all count alike. */
static void merge_show(struct merging *m, const char *done, uint64_t n)
{
	double share = 0;

	for (unsigned i = 0; i < m->n; i++) {
		const struct merged_archive *s = &m->sources[i];

		share += s->client ? client_replay_share(s->client) : s->read ? 1 : 0;
	}
	progress_show(&m->shown, done, n, share / m->n);
}

/* ---- what is in archives ---- */

/* Goes through the present wave of an archive, and calls @take for each run of tuples. */
static int wave_read(struct merging *m, struct merged_archive *s,
		     void (*take)(struct merging *m, struct merged_archive *s,
				  struct merged_element *of, struct run_view *view,
				  const struct clock_line *line))
{
	const struct client_replayed r = client_replayed(s->client);
	struct batch_cursor cursor = {0};
	const struct part *part = NULL;
	struct merged_host *h = NULL;
	struct run_view view;

	while (m->rc == 0 && batch_next_packed(r.batch, &cursor, &view)) {
		struct merged_element *of;

		errno = EINVAL;
		if (view.run->kind == RUN_PART && !(view.run->flags & (RUN_FOLD | RUN_MANY)) &&
		    view.part->filtered == 0 && view.part->reduced == 0) {
			part = view.part;
			h = merging_part(m, s, &view);
			continue;
		}
		if (!h || (view.run->kind != RUN_TUPLES && view.run->kind != RUN_TYPED) ||
		    view.run->flags & RUN_SPARSE)
			return errorf(m->e, "%s: stages have changed what is in it", s->folder);
		if (view.run->first > UINT64_MAX / 2)
			return errorf(m->e, "%s: it has tuple %" PRIu64, s->folder,
				      view.run->first);
		of = merging_element(m, s, view.run->element, h);
		if (of)
			take(m, s, of, &view, &part->clock);
	}
	return m->rc;
}

static void run_note(struct merging *m, struct merged_archive *s, struct merged_element *of,
		     struct run_view *view, const struct clock_line *line)
{
	const struct names *names = client_replayed(s->client).names;

	if (!merged_note(of, view, line))
		m->rc = errorf(m->e,
			       "%s: %s was made anew meanwhile, so that numbers do not tell its "
			       "tuples apart",
			       s->folder, names_find(names, view->run->element)->text);
}

/* At the end of an archive: who owes waves, and what all communicators are. */
static void source_end(struct merging *m, struct merged_archive *s)
{
	struct client_replayed r = client_replayed(s->client);
	const struct delivery_leaf *leaf;

	for (size_t i = 0; (leaf = delivery_leaf(r.delivery, i)); i++) {
		if (leaf->owed.n > 0)
			merging_host(m, s, leaf->index)->owes = true;
	}
	m->whole &= r.whole;
	merging_comms(m, s);
}

/* The first reading. */
static int source_note(struct merging *m, struct merged_archive *s)
{
	struct evspace_counts counts;
	int rc;

	if (merging_open(m, s) < 0)
		return -1;
	while ((rc = merging_next(m, s)) == 1 && wave_read(m, s, run_note) == 0) {
		s->waves++;
		merge_show(m, "waves looked at", ++m->looked);
	}
	if (rc)
		return -1;
	source_end(m, s);
	evspace_counts(s->client, &counts);
	m->came += counts.delivered;
	merging_close(s);
	s->read = true;
	return 0;
}

static void run_add(struct merging *m, const char *run)
{
	size_t at = strlen(m->run);

	for (const struct merged_archive *s = m->sources; s < m->sources + m->n && s->folder; s++) {
		if (s->run && s->run != run && strcmp(s->run, run) == 0)
			return;
	}
	snprintf(m->run + at, sizeof(m->run) - at, "%s%s", at ? "+" : "", run);
}

/* Which runs they are of, and by which clock and map the first one is. */
static int sources_look(struct merging *m)
{
	struct client_replayed r;

	for (unsigned i = 0; i < m->n; i++) {
		struct merged_archive *s = &m->sources[i];

		if (merging_open(m, s) < 0)
			return -1;
		s->other = strcmp(s->run, m->sources[0].run) != 0;
		m->runs |= s->other;
		run_add(m, s->run);
		r = client_replayed(s->client);
		if (i == 0) {
			m->epoch_ns = r.epoch_ns;
			if (r.map->application)
				texts_set(&m->map, r.map->application, r.map->cluster,
					  r.map->mapping);
		}
		merging_close(s);
	}
	return 0;
}

/* ---- the new archive ---- */

static void hole_give(struct merging *m, struct merged_host *h, const struct merged_element *of,
		      const struct merged_piece *hole)
{
	(void)m;
	if (hole->discarded) {
		batch_discard(&h->runs, of->id, hole->first, hole->count);
		h->part.discarded += hole->count;
	} else {
		batch_add(&h->runs, RUN_TUPLES, of->id, hole->first, 0, hole->count);
		h->part.lost += hole->count;
	}
}

static void piece_give(void *arg, struct merged_element *of, const struct merged_piece *piece)
{
	const size_t head = piece->head_words * sizeof(*piece->head);
	const size_t bytes = piece->count * piece->bytes;
	struct merging *m = arg;
	struct merged_host *h = m->by_index[of->leaf - 1];
	char *to;

	if (!piece->tuples) {
		hole_give(m, h, of, piece);
		return;
	}
	/* a part has one clock */
	if ((h->lined && !clock_line_same(&h->part.clock, piece->line)) || m->bytes >= WAVE_BYTES)
		merging_wave(m, false);
	h->part.clock = *piece->line;
	h->lined = true;
	to = piece->head
		     ? batch_add(&h->runs, RUN_TYPED, of->id, piece->first,
				 piece->head_words + (uint32_t)(bytes / sizeof(*piece->head)), 0)
		     : batch_add(&h->runs, RUN_TUPLES, of->id, piece->first, (uint32_t)piece->count,
				 0);
	if (piece->head)
		to = (char *)memcpy(to, piece->head, head) + head;
	memcpy(to, piece->tuples, bytes);
	h->part.read += piece->count;
	m->bytes += head + bytes;
}

static void run_take(struct merging *m, struct merged_archive *s, struct merged_element *of,
		     struct run_view *view, const struct clock_line *line)
{
	uint32_t from = 0, to = 0;

	for (uint32_t i = 0; s->other && view->run->kind == RUN_TUPLES && i < view->run->count;
	     i++) {
		struct tuple *t = &view->tuples[i];

		if (t->comm != from) {
			from = t->comm;
			to = merging_comm(s, from);
			to = names_comm_find(m->names, to) ? to : from;
		}
		t->comm = t->comm ? to : 0;
	}
	merged_take(&m->merged, of, view, line, piece_give, m);
}

/* ---- the second reading ---- */

/* Have the next wave of each archive, as far as it went in the first reading. */
static int sources_step(struct merging *m)
{
	for (unsigned i = 0; i < m->n; i++) {
		struct merged_archive *s = &m->sources[i];
		int rc;

		if (s->here || s->waves == 0)
			continue;
		if (!s->client && merging_open(m, s) < 0)
			return -1;
		rc = merging_next(m, s);
		if (rc < 0)
			return -1;
		s->here = rc > 0;
		s->waves = rc > 0 ? s->waves - 1 : 0;
	}
	return 0;
}

/* The one whose wave was taken first. */
static struct merged_archive *sources_first(struct merging *m)
{
	struct merged_archive *first = NULL;

	for (unsigned i = 0; i < m->n; i++) {
		struct merged_archive *s = &m->sources[i];

		if (s->here && (!first || evspace_wave(s->client)->taken_ns <
						  evspace_wave(first->client)->taken_ns))
			first = s;
	}
	return first;
}

static int waves_copy(struct merging *m)
{
	struct merged_archive *s;

	merging_begin(m);
	while (sources_step(m) == 0 && (s = sources_first(m))) {
		m->taken_ns = evspace_wave(s->client)->taken_ns;
		if (wave_read(m, s, run_take) < 0)
			return -1;
		merging_wave(m, false);
		if (m->rc < 0)
			return -1;
		merge_show(m, "tuples written", m->tuples);
		s->here = false;
	}
	for (unsigned i = 0; i < m->n; i++) {
		if (m->sources[i].waves > 0)
			return -1;
	}
	merged_end(&m->merged, piece_give, m);
	/* what hosts have that owe something, too */
	merging_wave(m, false);
	merging_wave(m, true);
	return m->rc;
}

/* ---- the command ---- */

static int archives_merge(struct merging *m, char *const *folders, const char *out)
{
	for (unsigned i = 0; i < m->n; i++)
		m->sources[i].folder = folders[i];
	if (sources_look(m) < 0)
		return -1;
	for (unsigned i = 0; i < m->n; i++) {
		if (source_note(m, &m->sources[i]) < 0)
			return -1;
	}
	m->to = archive_writer_fresh(out, 0, m->e);
	return m->to && waves_copy(m) == 0 ? counts_merge(m, out) : -1;
}

int archive_merge(char *const *folders, unsigned n, const char *out)
{
	struct error e = {0};
	struct merging m = {
		.n = n, .view = "events", .reading = READ_STREAM, .whole = true, .e = &e};
	char all[UNIT_TEXT], again[UNIT_TEXT], holes[UNIT_TEXT];
	int rc;

	options_catch_signals(NULL);
	merged_init(&m.merged);
	m.sources = memory_new(n, sizeof(*m.sources));
	m.names = names_new(0);
	rc = archives_merge(&m, folders, out);
	status_line_clear();
	if (rc < 0)
		archive_cut_fail("merge", m.to ? out : NULL, &e);
	else
		fprintf(stderr,
			"%s tuples of %u archive%s in %s; %s came more than once, %s are in none\n",
			unit_count(all, m.tuples), n, plural(n, "s"), out,
			unit_count(again, m.came - m.tuples), unit_count(holes, m.merged.holes));
	if (rc > 0)
		fprintf(stderr,
			"evspace archive merge: what classes of operations have counted is not in "
			"%s: they are more than %u of all elements\n",
			out, COUNTS_MERGE_MOST);
	merging_fini(&m);
	return rc ? EXIT_BAD_NEWS : EXIT_FINE;
}
