/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows what is in an archive: its account, its chunks, and whether it is whole. */
#include "consumers/keep/archive-show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "consumers/archive/archive-reader.h"
#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/status-line.h"
#include "consumers/cli/words.h"
#include "consumers/client/client-replay.h"
#include "consumers/keep/contents.h"
#include "consumers/keep/progress.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

/* ---- reading all of it ---- */

/* All that is in an archive, chunks and waves. */
struct inside {
	uint64_t chunks, bytes, torn;
	uint64_t last; /* wave of these: who writes it meanwhile goes on behind that */
	struct contents contents;
	struct evspace_client *client; /* at its end */
	struct evspace_counts counts;
	const char *command;
};

static int inside_fail(const struct inside *in, const char *why)
{
	status_line_clear();
	fprintf(stderr, "%s: %s\n", in->command, why);
	return EXIT_BAD_NEWS;
}

static int waves_read(struct inside *in, const char *folder)
{
	char *address = memory_format(CLIENT_REPLAY "%s", folder), why[512];
	const struct evspace_options look = {.connect = address, .view = ""};
	struct read_progress shown = {0};
	enum evspace_failure failure;
	int rc;

	in->client = evspace_open(&look, &failure, why, sizeof(why));
	free(address);
	if (!in->client)
		return inside_fail(in, why);
	while ((rc = evspace_next(in->client, -1)) == 1 &&
	       evspace_wave(in->client)->number <= in->last) {
		contents_take(&in->contents, in->client);
		evspace_counts(in->client, &in->counts);
		progress_show(&shown, "events read", in->counts.delivered,
			      client_replay_share(in->client));
	}
	status_line_clear();
	if (rc <= 0)
		evspace_counts(in->client, &in->counts);
	return rc < 0 ? inside_fail(in, evspace_why(in->client)) : EXIT_FINE;
}

/* Go through the chunks alone: each has a checksum. @each sees each. */
static int chunks_read(struct inside *in, const char *folder,
		       void (*each)(const struct archive_head *head, void *arg), void *arg)
{
	struct error e;
	struct archive_reader *r = archive_reader_new(folder, &e);
	int rc = -1;

	while (r && (rc = archive_reader_chunk(r, &e)) == 1) {
		in->chunks++;
		if (archive_reader_head(r)->last > in->last)
			in->last = archive_reader_head(r)->last;
		if (each)
			each(archive_reader_head(r), arg);
	}
	if (r && rc == 0) {
		in->torn = archive_reader_torn(r);
		in->bytes = archive_reader_bytes(r) - in->torn;
	}
	archive_reader_free(r);
	return rc < 0 ? inside_fail(in, e.text) : EXIT_FINE;
}

static void inside_fini(struct inside *in)
{
	evspace_close(in->client);
	contents_fini(&in->contents);
}

/* ---- info ---- */

static double bytes_each(const struct inside *in)
{
	return in->counts.delivered ? (double)in->bytes / (double)in->counts.delivered : -1;
}

static void time_text(char *buf, size_t n, int64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	size_t at;

	at = localtime_r(&s, &tm) ? strftime(buf, n, "%F ", &tm) : 0;
	words_clock(buf + at, n - at, ns, 3);
}

static void info_text(const struct inside *in)
{
	const struct evspace_counts *c = &in->counts;
	char from[64], to[64], n[UNIT_TEXT], bytes[UNIT_TEXT];

	printf("run %s\n", *evspace_run(in->client) ? evspace_run(in->client) : "?");
	if (in->contents.from_ns) {
		time_text(from, sizeof(from), in->contents.from_ns);
		time_text(to, sizeof(to), in->contents.to_ns);
		printf("from %s to %s\n", from, to);
	}
	printf("%s tuples of %zu element%s on %u host%s, in %" PRIu64 " wave%s",
	       unit_count(n, c->delivered), in->contents.n, plural(in->contents.n, "s"), c->leaves,
	       plural(c->leaves, "s"), c->waves, plural(c->waves, "s"));
	printf(" and %" PRIu64 " chunk%s of %s", in->chunks, plural(in->chunks, "s"),
	       unit_bytes(bytes, in->bytes));
	if (c->delivered)
		printf(" (%.2f bytes a tuple)", bytes_each(in));
	printf("\n%s lost (overwritten before they were read)", unit_count(n, c->lost));
	printf(", %s discarded", unit_count(n, c->discarded));
	printf(", %s filtered", unit_count(n, c->filtered));
	printf(", %s reduced", unit_count(n, c->reduced));
	printf(", %s unaccounted for\n", unit_count(n, c->unaccounted));
	if (c->owing)
		printf("%u host%s had not answered all waves at its end\n", c->owing,
		       plural(c->owing, "s"));
	if (in->torn)
		printf("%s at its end are no whole chunk: who wrote it was killed, or still "
		       "writes\n",
		       unit_bytes(bytes, in->torn));
}

static void elements_text(const struct inside *in)
{
	static const struct table_column columns[] = {{.least = 20, .parts = 3},
						      {.pad = 10},
						      {.pad = 10},
						      {.pad = 10},
						      {.pad = 9},
						      {.pad = 9}};
	static const char *const heads[] = {"ELEMENT", "TUPLES", "FIRST",
					    "LAST",    "LOST",	 "DISCARDED"};
	const struct content *of;
	struct table t;

	if (in->contents.n == 0)
		return;
	table_heads(&t, columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (of = in->contents.elements; of; of = of->hh.next) {
		table_cell(&t, "%s", of->name);
		table_cell(&t, "%" PRIu64, of->tuples);
		if (of->first == UINT64_MAX) {
			table_cell(&t, "-");
			table_cell(&t, "-");
		} else {
			table_cell(&t, "%" PRIu64, of->first);
			table_cell(&t, "%" PRIu64, of->last);
		}
		table_cell(&t, "%" PRIu64, of->lost);
		table_cell(&t, "%" PRIu64, of->discarded);
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static void archive_json(const struct inside *in)
{
	const struct evspace_counts *c = &in->counts;

	json_print(
		json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
			  "type", "archive", "run", json_text(evspace_run(in->client)), "from_ns",
			  json_time(in->contents.from_ns), "to_ns", json_time(in->contents.to_ns),
			  "hosts", json_count(c->leaves), "elements", json_count(in->contents.n),
			  "waves", json_count(c->waves), "chunks", json_count(in->chunks), "bytes",
			  json_count(in->bytes), "torn_bytes", json_count(in->torn), "tuples",
			  json_count(c->delivered), "lost", json_count(c->lost), "discarded",
			  json_count(c->discarded), "filtered", json_count(c->filtered), "reduced",
			  json_count(c->reduced), "unaccounted", json_count(c->unaccounted),
			  "owing", json_count(c->owing)),
		stdout);
}

static json_t *json_place(uint64_t number)
{
	return number == UINT64_MAX ? json_null() : json_count(number);
}

static void elements_json(const struct inside *in)
{
	const struct content *of;

	for (of = in->contents.elements; of; of = of->hh.next)
		json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "element", "name",
				     json_text(of->name), "tuples", json_count(of->tuples), "first",
				     json_place(of->first), "last", json_place(of->last), "lost",
				     json_count(of->lost), "discarded", json_count(of->discarded)),
			   stdout);
}

int archive_info(const char *folder, bool json)
{
	struct inside in = {.command = "evspace archive info"};
	int code = chunks_read(&in, folder, NULL, NULL);

	if (code == EXIT_FINE)
		code = waves_read(&in, folder);
	if (in.client && json) {
		archive_json(&in);
		elements_json(&in);
	} else if (in.client) {
		info_text(&in);
		elements_text(&in);
	}
	inside_fini(&in);
	return code;
}

/* ---- ls ---- */

static void chunk_json(const struct archive_head *h, void *arg)
{
	(void)arg;
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "chunk",
			     "number", json_count(h->number), "first_wave", json_count(h->first),
			     "last_wave", json_count(h->last), "from_ns", json_time(h->from_ns),
			     "to_ns", json_time(h->to_ns), "tuples", json_count(h->tuples), "lost",
			     json_count(h->lost), "discarded", json_count(h->discarded), "bytes",
			     json_count(sizeof(*h) + h->stored), "plain_bytes",
			     json_count(h->plain)),
		   stdout);
}

static void chunk_text(const struct archive_head *h, void *arg)
{
	struct table *t = arg;
	char from[64] = "-", bytes[UNIT_TEXT];

	if (h->from_ns)
		time_text(from, sizeof(from), h->from_ns);
	table_cell(t, "%" PRIu64, h->number);
	table_cell(t, "%s", from);
	table_cell(t, "%" PRIu64 "-%" PRIu64, h->first, h->last);
	table_cell(t, "%" PRIu64, h->tuples);
	table_cell(t, "%" PRIu64, h->lost);
	table_cell(t, "%s", unit_bytes(bytes, sizeof(*h) + h->stored));
}

int archive_ls(const char *folder, bool json)
{
	static const char *const heads[] = {"CHUNK", "FROM", "WAVES", "TUPLES", "LOST", "SIZE"};
	static const struct table_column columns[] = {{.pad = 6},  {0},	       {.pad = 11},
						      {.pad = 10}, {.pad = 8}, {.pad = 9}};
	struct inside in = {.command = "evspace archive ls"};
	struct table t;
	int code;

	table_heads(&t, columns, heads, sizeof(heads) / sizeof(heads[0]));
	code = chunks_read(&in, folder, json ? chunk_json : chunk_text, &t);
	if (!json && in.chunks)
		table_print(&t, stdout);
	table_fini(&t);
	return code;
}

/* ---- check ---- */

static void sum_chunk(const struct archive_head *h, void *arg)
{
	uint64_t *tuples = arg;

	*tuples += h->tuples;
}

/* What was counted, if that was kept. */
static int counts_check(const struct inside *events, const char *folder)
{
	struct inside in = {.command = events->command};
	char *beside = memory_format("%s/" CLIENT_REPLAY_COUNTS, folder);
	int code = EXIT_FINE;

	if (archive_is_there(beside))
		code = chunks_read(&in, beside, NULL, NULL);
	if (code == EXIT_FINE && in.chunks)
		code = waves_read(&in, beside);
	inside_fini(&in);
	free(beside);
	return code;
}

int archive_check(const char *folder, bool json)
{
	struct inside in = {.command = "evspace archive check"};
	uint64_t tuples = 0;
	int code = chunks_read(&in, folder, sum_chunk, &tuples);

	if (code == EXIT_FINE)
		code = waves_read(&in, folder);
	if (code == EXIT_FINE && in.counts.unaccounted)
		code = inside_fail(&in, "tuples are missing, and nothing says why");
	/* a part may have what came twice */
	if (code == EXIT_FINE && tuples != in.counts.delivered &&
	    tuples != in.counts.delivered + in.counts.repeated)
		code = inside_fail(&in, "its chunks say that they have other numbers of tuples");
	if (code == EXIT_FINE)
		code = counts_check(&in, folder);
	if (in.client && json)
		archive_json(&in);
	else if (in.client && code == EXIT_FINE)
		info_text(&in);
	inside_fini(&in);
	return code;
}
