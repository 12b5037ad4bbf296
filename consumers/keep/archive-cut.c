/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an archive of some waves of another one, with all that was said before them. */
#include "consumers/keep/archive-cut.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "consumers/archive/archive-reader.h"
#include "consumers/archive/archive-writer.h"
#include "consumers/cli/command.h"
#include "consumers/cli/options.h"
#include "consumers/cli/status-line.h"
#include "consumers/client/client-replay.h"
#include "consumers/keep/progress.h"
#include "pathmap/base/memory.h"
#include "tree/data/columns-batch.h"

#define SYNC_BYTES ((size_t)1 << 20)

struct cutting {
	const struct archive_range *range;
	struct archive_writer *to;
	bool begun;		    /* something is there */
	int64_t epoch_ns, first_ns; /* of the first wave; 0: none yet */
	uint64_t from, last;	    /* waves that are in it; 0: none yet */
	uint64_t tuples;
};

/* ---- frames ---- */

/* Whatever a file says: sums wrap. */
static int64_t taken(const struct cutting *c, const Evspace__Answer *a)
{
	return (int64_t)((uint64_t)c->epoch_ns + a->sent_ns);
}

/* Is the wave in the range? One that is answered again is where it was answered first. */
static bool has_wave(struct cutting *c, const Evspace__Answer *a)
{
	int64_t taken_ns = taken(c, a);
	uint64_t at_ns;

	if (a->again)
		return c->from && a->wave >= c->from && a->wave <= c->last;
	if (!c->first_ns)
		c->first_ns = taken_ns;
	at_ns = taken_ns > c->first_ns ? (uint64_t)taken_ns - (uint64_t)c->first_ns : 0;
	if (at_ns < c->range->begin_ns || (c->range->end_ns && at_ns >= c->range->end_ns))
		return false;
	c->from = c->from ? c->from : a->wave;
	c->last = a->wave > c->last ? a->wave : c->last;
	return true;
}

static void count(const struct batch *body, struct archive_note *note)
{
	struct batch_cursor cursor = {0};
	struct run_view view;

	while (batch_next_packed(body, &cursor, &view)) {
		if (view.run->kind == RUN_TUPLES || view.run->kind == RUN_NEWEST)
			note->tuples += view.run->count;
		if (view.run->kind == RUN_TYPED)
			note->tuples += typed_count(view.typed_words, view.run->count);
		if (view.run->kind == RUN_TUPLES && view.run->flags & RUN_DISCARDED)
			note->discarded += view.lost;
		else if (view.run->kind == RUN_TUPLES || view.run->kind == RUN_TYPED)
			note->lost += view.lost;
	}
}

static void answer_copy(struct cutting *c, const struct frame *frame)
{
	Evspace__Answer answer = *frame->header->answer;
	bool has = answer.wave && has_wave(c, &answer);
	struct archive_note note = {0};
	struct batch packed, opened;

	if (!has && answer.n_names == 0 && answer.n_comms == 0)
		return;
	batch_init(&packed);
	batch_init(&opened);
	if (has) {
		note.wave = answer.wave;
		note.taken_ns = taken(c, &answer);
	} else {
		answer.wave = 0;
		answer.n_missing = 0;
	}
	if (has && frame->bytes) {
		batch_append_columns(&packed, frame->buffer, frame->at, frame->bytes, frame->plain);
		batch_append_columns(&opened, frame->buffer, frame->at, frame->bytes, frame->plain);
		columns_batch_open(&opened);
		count(&opened, &note);
	}
	c->tuples += note.tuples;
	archive_writer_add(c->to, &WIRE_FRAME(ANSWER, answer, &answer),
			   packed.bytes ? &packed : NULL, &note);
	batch_fini(&opened);
	batch_fini(&packed);
}

static void frame_copy(struct cutting *c, const struct frame *frame)
{
	const Evspace__Frame *header = frame->header;
	const struct archive_note nothing = {0};

	if (header->kind_case == EVSPACE__FRAME__KIND_ANSWER) {
		answer_copy(c, frame);
		return;
	}
	if (header->kind_case == EVSPACE__FRAME__KIND_HELLO)
		c->epoch_ns = header->hello->epoch_ns;
	if (header->kind_case == EVSPACE__FRAME__KIND_OPEN) {
		Evspace__Open open = *header->open;

		/* nobody can go on with it */
		open.id.len = 0;
		archive_writer_add(c->to, &WIRE_FRAME(OPEN, open, &open), NULL, &nothing);
		return;
	}
	archive_writer_add(c->to, header, NULL, &nothing);
}

/* Waves that are not in the range are not read, if nothing else is with them. */
static bool wants(void *arg, const struct archive_head *head,
		  const struct archive_elements *elements, size_t n)
{
	const struct cutting *c = arg;
	uint64_t from, to;

	(void)elements;
	(void)n;
	if (!c->first_ns || head->from_ns < c->first_ns || head->to_ns < head->from_ns)
		return true;
	from = (uint64_t)head->from_ns - (uint64_t)c->first_ns;
	to = (uint64_t)head->to_ns - (uint64_t)c->first_ns;
	return to >= c->range->begin_ns && (!c->range->end_ns || from < c->range->end_ns);
}

static int frames_copy(struct cutting *c, struct archive_reader *from, struct error *e)
{
	uint64_t all = archive_reader_bytes(from);
	struct read_progress shown = {0};
	struct frame frame;
	int rc;

	archive_reader_select(from, wants, c);
	while ((rc = archive_reader_frame(from, true, &frame, e)) > 0) {
		if (options_interrupted())
			return errorf(e, "interrupted");
		frame_copy(c, &frame);
		progress_show(&shown, "tuples copied", c->tuples,
			      (double)archive_reader_done(from) / (double)all);
		if (archive_writer_waiting(c->to) >= SYNC_BYTES &&
		    archive_writer_sync(c->to, e) < 0)
			return -1;
	}
	return rc < 0 ? -1 : archive_writer_sync(c->to, e);
}

/* ---- the command ---- */

void archive_cut_fail(const char *word, const char *out, const struct error *e)
{
	fprintf(stderr, "evspace archive %s: %s", word, e->text);
	if (out)
		fprintf(stderr, "; what is in %s is not all of it: remove it", out);
	fputc('\n', stderr);
}

static int cut(struct cutting *c, const char *folder, const char *out, struct error *e)
{
	struct archive_reader *from = archive_reader_new(folder, e);
	int rc;

	/* the first chunk is not number 1: what was before is not in it */
	c->to = from ? archive_writer_fresh(out, 1, e) : NULL;
	c->begun = c->to != NULL;
	rc = c->begun ? frames_copy(c, from, e) : -1;
	status_line_clear();
	archive_writer_free(c->to);
	archive_reader_free(from);
	return rc;
}

/* What was counted meanwhile, if that was kept. */
static int counts_cut(const struct cutting *events, const char *folder, const char *out,
		      struct error *e)
{
	struct cutting c = {.range = events->range, .first_ns = events->first_ns};
	char *from = memory_format("%s/" CLIENT_REPLAY_COUNTS, folder);
	char *to = memory_format("%s/" CLIENT_REPLAY_COUNTS, out);
	int rc = archive_is_there(from) ? cut(&c, from, to, e) : 0;

	free(from);
	free(to);
	return rc;
}

/* There is nothing in it. */
static void out_remove(const char *out)
{
	char name[ARCHIVE_FILE_TEXT], *path;

	archive_file(1, name);
	path = memory_format("%s/%s", out, name);
	unlink(path);
	rmdir(out);
	free(path);
}

int archive_cut(const char *folder, const char *out, const struct archive_range *range)
{
	struct cutting c = {.range = range};
	struct error e;
	int rc;

	if (range->end_ns && range->end_ns <= range->begin_ns) {
		fprintf(stderr, "evspace archive cut: --end is not behind --begin\n");
		return EXIT_USAGE;
	}
	options_catch_signals(NULL);
	rc = cut(&c, folder, out, &e);
	if (rc == 0 && !c.from) {
		out_remove(out);
		c.begun = false;
		rc = errorf(&e, "%s: no wave is in that time", folder);
	}
	if (rc == 0)
		rc = counts_cut(&c, folder, out, &e);
	if (rc < 0)
		archive_cut_fail("cut", c.begun ? out : NULL, &e);
	else
		fprintf(stderr, "waves %" PRIu64 " to %" PRIu64 ", %" PRIu64 " tuples in %s\n",
			c.from, c.last, c.tuples, out);
	return rc < 0 ? EXIT_BAD_NEWS : EXIT_FINE;
}
