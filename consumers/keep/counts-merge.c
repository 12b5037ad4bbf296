/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts only grow, so of each element the wave that has counted most, whichever archive has it, is
 * the newest: what it says of all its classes together, as these may become others' (decision 18).
 */
#include "consumers/keep/counts-merge.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/archive/archive-writer.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/evspace-client.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/view.h"

/* The newest of an element. */
struct counts_row {
	struct merged_element *of;
	struct count *counts;
	uint32_t n;
	uint64_t calls; /* of all these */
	UT_hash_handle hh;
};

struct counts_merging {
	struct merging m;
	const struct merging *events;
	struct counts_row *rows;
	size_t held; /* classes of all these */
	bool full;   /* there are more */
};

static struct counts_row *row_of(struct counts_merging *c, struct merged_element *of)
{
	struct counts_row *row;

	HASH_FIND_PTR(c->rows, &of, row);
	if (row)
		return row;
	row = memory_new(1, sizeof(*row));
	row->of = of;
	HASH_ADD_PTR(c->rows, of, row);
	return row;
}

static void row_take(struct counts_merging *c, struct merged_element *of,
		     const struct count *counts, uint32_t n)
{
	struct counts_row *row = row_of(c, of);
	uint64_t calls = 0;

	for (uint32_t i = 0; i < n; i++)
		calls += counts[i].calls;
	if (calls < row->calls)
		return;
	c->full |= c->held - row->n + n > COUNTS_MERGE_MOST;
	if (c->full)
		return;
	c->held += n;
	c->held -= row->n;
	free(row->counts);
	row->counts = memory_new(n + 1, sizeof(*row->counts));
	memcpy(row->counts, counts, n * sizeof(*counts));
	row->n = n;
	row->calls = calls;
}

/* Its communicators are called as their events have it. */
static void run_take(struct counts_merging *c, const struct merged_archive *s,
		     struct merged_element *of, const struct run_view *view)
{
	const uint32_t n = view->run->count;
	struct count *counts = memory_new(n + 1, sizeof(*counts));

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t comm = merging_comm(s, view->counts[i].comm);

		counts[i] = view->counts[i];
		if (names_comm_find(c->events->names, comm))
			counts[i].comm = comm;
	}
	row_take(c, of, counts, n);
	free(counts);
}

static void wave_take(struct counts_merging *c, struct merged_archive *s)
{
	const struct client_replayed r = client_replayed(s->client);
	struct batch_cursor cursor = {0};
	struct merged_host *h = NULL;
	struct run_view view;

	while (c->m.rc == 0 && batch_next_packed(r.batch, &cursor, &view)) {
		struct merged_element *of = NULL;

		if (view.run->kind == RUN_PART)
			h = merging_part(&c->m, s, &view);
		else if (h && view.run->kind == RUN_COUNTS)
			of = merging_element(&c->m, s, view.run->element, h);
		if (of)
			run_take(c, s, of, &view);
	}
}

static int source_take(struct counts_merging *c, struct merged_archive *s)
{
	int rc;

	if (merging_open(&c->m, s) < 0)
		return -1;
	while ((rc = merging_next(&c->m, s)) == 1) {
		wave_take(c, s);
		if (evspace_wave(s->client)->taken_ns > c->m.taken_ns)
			c->m.taken_ns = evspace_wave(s->client)->taken_ns;
	}
	if (rc == 0)
		merging_comms(&c->m, s);
	merging_close(s);
	return rc < 0 ? -1 : c->m.rc;
}

/* By the names that elements have in the end. */
static void rows_give(struct counts_merging *c)
{
	for (struct counts_row *row = c->rows; row; row = row->hh.next) {
		const struct counts_row old = *row;

		if (merged_self(row->of) == row->of)
			continue;
		row->counts = NULL;
		row->n = 0;
		c->held -= old.n;
		row_take(c, merged_self(row->of), old.counts, old.n);
		free(old.counts);
	}
	for (struct counts_row *row = c->rows; row; row = row->hh.next) {
		const struct merged_element *of = row->of;

		if (of->same || row->n == 0)
			continue;
		memcpy(batch_add(&c->m.by_index[of->leaf - 1]->runs, RUN_COUNTS, of->id, 0, row->n,
				 0),
		       row->counts, row->n * sizeof(*row->counts));
	}
}

static int all_take(struct counts_merging *c, const char *out)
{
	for (unsigned i = 0; i < c->m.n; i++) {
		if (source_take(c, &c->m.sources[i]) < 0)
			return -1;
	}
	if (c->full)
		return 1;
	c->m.to = archive_writer_fresh(out, 0, c->m.e);
	if (!c->m.to)
		return -1;
	merging_begin(&c->m);
	rows_give(c);
	merging_wave(&c->m, true);
	return c->m.rc;
}

static char *beside(const char *folder)
{
	return memory_format("%s/" CLIENT_REPLAY_COUNTS, folder);
}

/* The archives of counts. Returns whether all are there. */
static bool sources_set(struct merging *m, const struct merging *events)
{
	bool all = true;

	for (unsigned i = 0; i < m->n; i++) {
		const struct merged_archive *of = &events->sources[i];
		char *folder = beside(of->folder);

		all = all && archive_is_there(folder);
		m->sources[i].folder = folder;
		m->sources[i].run = memory_copy(of->run);
		m->sources[i].other = of->other;
	}
	return all;
}

int counts_merge(const struct merging *events, const char *out)
{
	struct counts_merging c = {.events = events};
	struct merging *m = &c.m;
	struct counts_row *row, *next;
	char *folder = beside(out);
	int rc = 0;

	m->n = events->n;
	m->view = CLIENT_REPLAY_COUNTS_VIEW;
	m->reading = READ_COUNTS;
	m->runs = events->runs;
	memcpy(m->run, events->run, sizeof(m->run));
	m->epoch_ns = events->epoch_ns;
	m->e = events->e;
	merged_init(&m->merged);
	m->names = names_new(0);
	m->sources = memory_new(m->n, sizeof(*m->sources));
	if (events->map.application)
		texts_set(&m->map, events->map.application, events->map.cluster,
			  events->map.mapping);
	if (sources_set(m, events))
		rc = all_take(&c, folder);
	for (unsigned i = 0; i < m->n; i++)
		free((void *)(uintptr_t)m->sources[i].folder);
	merging_fini(m);
	HASH_ITER(hh, c.rows, row, next)
	{
		HASH_DEL(c.rows, row);
		free(row->counts);
		free(row);
	}
	free(folder);
	return rc;
}
