/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace archive: keeps a view's stream in a folder, and goes on where it was. */
#include <stdio.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/status-line.h"
#include "consumers/archive/archive-reader.h"
#include "consumers/archive/archive-writer.h"
#include "consumers/client/client-keep.h"
#include "consumers/keep/archive-cut.h"
#include "consumers/keep/archive-merge.h"
#include "consumers/keep/archive-show.h"
#include "consumers/watch/follow.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

static const char archive_help[] =
	"usage: evspace archive [options] DIR\n"
	"       evspace archive info|ls|check [--json] DIR\n"
	"       evspace archive cut [--begin TIME] [--end TIME] DIR OUT\n"
	"       evspace archive merge DIR... --into OUT\n"
	"\n"
	"Keep what comes of a run (by default every event, from the first that the\n"
	"elements still hold to the end of the run) in the folder DIR. If DIR has an\n"
	"archive of the same view already, it goes on behind that: after Ctrl-C, a kill,\n"
	"or a crash of whatever stood between, nothing is missing that the elements still\n"
	"hold, and nothing comes twice. A full disk ends it; what is there can be read.\n"
	"Without --rate it looks 50 times a second, and more often while elements fill.\n"
	"\n"
	"  evspace archive info DIR   whose events it has, and what of each element\n"
	"  evspace archive ls DIR     its chunks\n"
	"  evspace archive check DIR  is it whole? else what is wrong where, exit code 1\n"
	"  evspace archive cut DIR OUT  a part by time since its first wave, as OUT\n"
	"  evspace archive merge DIR... --into OUT  what all of them have, once, as OUT\n"
	"\n"
	"evspace events --from DIR and the other consumers read it as a live run.\n"
	"\n"
	"examples:\n"
	"  evspace archive --wait --run solver /data/solver-1 &\n"
	"  evspace archive --view volume --rate 1 /data/volume\n"
	"  evspace events --from /data/solver-1 --select '/**/rank3/**'\n";

/* How long one may come back to the scope. */
#define PATIENCE_MS 3600000u

#define SHOW_NS UINT64_C(500000000)

struct archive {
	struct follower follow;
	const char *folder;
	struct archive_bound bound;
	struct archive_range range;
	const char *into;
	bool fresh, begun;
	uint64_t shown_ns;
};

static int set_define(void *into, const char *text, struct error *e)
{
	struct archive *a = into;

	(void)e;
	a->follow.common.look.define = text;
	return 0;
}

/* A size, or a time. */
static int set_keep(void *into, const char *text, struct error *e)
{
	struct archive *a = into;
	const char *unit = text + strspn(text, "0123456789.");
	struct error why;

	if (!*unit)
		return errorf(e, "'%.60s' has no unit: a size is as 10G, a time as 7d", text);
	if (quantity_bytes(text, &a->bound.bytes, &why) == 0 && a->bound.bytes > 0)
		return 0;
	a->bound.bytes = 0;
	if (quantity_duration(text, QUANTITY_SECONDS, &a->bound.ns, &why) == 0 && a->bound.ns > 0)
		return 0;
	return errorf(e, "'%.60s' is neither a size, as 10G, nor a time, as 7d", text);
}

static const struct option_row archive_rows[] = {
	{"begin", "TIME", OPTION_TIME, .at = offsetof(struct archive, range.begin_ns),
	 .help = "of cut: since the first wave, as 90s (default: from it on)"},
	{"end", "TIME", OPTION_SPAN, .at = offsetof(struct archive, range.end_ns),
	 .help = "of cut: likewise (default: to the last wave)"},
	{"into", "DIR", OPTION_TEXT, .at = offsetof(struct archive, into),
	 .help = "of merge: the folder of the new archive"},
	{"keep", "SIZE|TIME", .take = set_keep, .at = 0,
	 .help = "drop the oldest files when all have more than SIZE, as 10G, or when they are "
		 "older "
		 "than TIME, as 7d"},
	{"new", .at = offsetof(struct archive, fresh),
	 .help = "only what comes from now on, and not what the elements still hold"},
	{"define", "TEXT", .take = set_define, .at = 0,
	 .help = "the text of a view of your own, as in `view NAME { TEXT }` of a map"},
	{0},
};

static const struct usage archive_usage = {
	.help = archive_help,
	.own = archive_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
	.lacks = " from speed ",
	.live = "cut and merge make one of others, which are words",
	.words_max = ARCHIVE_MERGE_MOST + 1,
};

/* ---- keeping ---- */

static void show(struct archive *a, const struct evspace_counts *n)
{
	struct client_kept kept = client_kept(a->follow.client);
	char tuples[UNIT_TEXT], lost[UNIT_TEXT], bytes[UNIT_TEXT], text[160];
	uint64_t now = clock_mono_ns();

	if (!status_line_is_possible() || now - a->shown_ns < SHOW_NS)
		return;
	a->shown_ns = now;
	snprintf(text, sizeof(text), "%s tuples kept, %s lost; %s on disk",
		 unit_count(tuples, n->delivered), unit_count(lost, n->lost),
		 unit_bytes(bytes, kept.bytes));
	status_line_show(text);
}

static bool take_wave(void *arg, uint64_t *seen)
{
	struct archive *a = arg;
	struct follower *f = &a->follow;
	struct evspace_counts n;
	struct error e;

	*seen = evspace_wave(f->client)->number;
	if (f->common.json && !a->begun) {
		json_print(json_pack("{s:s}", "type", "begun"), stdout);
		fflush(stdout);
	}
	a->begun = true;
	client_keep_remap(f->client);
	if (client_keep_counts(f->client, &f->common.look, &e) < 0)
		fprintf(stderr, "evspace archive: what is counted is not kept: %s\n", e.text);
	options_note_missing(f->command, &f->common, f->client);
	standing_note_unreadable(&f->standing, "evspace archive", f->client);
	follow_tell_loss(f);
	evspace_counts(f->client, &n);
	show(a, &n);
	/* follow_run() knows what a stream has read; all else says the same of a run that has ended
	 * again and again */
	return false;
}

static void account_write(FILE *line, const void *arg)
{
	const struct archive *a = arg;
	struct evspace_client *client = a->follow.client;
	struct client_kept kept = client_kept(client);
	char text[UNIT_TEXT];
	struct evspace_counts n;
	uint64_t added;

	evspace_counts(client, &n);
	added = kept.tuples - kept.resumed;
	fprintf(line, "%s%s tuples in %s", kept.resumed && !added ? "nothing new: " : "",
		unit_count(text, kept.tuples), a->folder);
	if (kept.resumed)
		fprintf(line, ", %s of them from before", unit_count(text, kept.resumed));
	fprintf(line, ", %s lost (overwritten before they were read)", unit_count(text, n.lost));
	if (n.discarded)
		fprintf(line, ", %s discarded", unit_count(text, n.discarded));
	if (n.unaccounted)
		fprintf(line, ", %llu UNACCOUNTED FOR (please report this)",
			(unsigned long long)n.unaccounted);
	fprintf(line, "; %s written", unit_bytes(text, kept.bytes));
	if (added)
		fprintf(line, ", %.2f bytes a tuple", (double)kept.bytes / (double)added);
	if (n.owing)
		fprintf(line, "; %u host%s did not answer all waves", n.owing,
			plural(n.owing, "s"));
}

static void account_json(const struct archive *a)
{
	struct client_kept kept = client_kept(a->follow.client);
	struct evspace_counts n;

	evspace_counts(a->follow.client, &n);
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "kept", "tuples",
			     json_count(kept.tuples), "before", json_count(kept.resumed), "lost",
			     json_count(n.lost), "discarded", json_count(n.discarded), "repeated",
			     json_count(n.repeated), "unaccounted", json_count(n.unaccounted),
			     "owing", json_count(n.owing), "bytes", json_count(kept.bytes)),
		   stdout);
}

static int keep(struct archive *a, const char *command)
{
	struct common *common = &a->follow.common;
	enum evspace_failure failure;
	char why[512], bytes[UNIT_TEXT];
	struct client_kept kept;
	int code;

	common->look.backlog = !a->fresh;
	a->follow.client = client_keep_open(&common->look, a->folder, &failure, why, sizeof(why));
	if (!a->follow.client) {
		fprintf(stderr, "%s: %s\n", command, why);
		return options_failure(failure);
	}
	client_keep_bound(a->follow.client, &a->bound);
	kept = client_kept(a->follow.client);
	if (kept.torn)
		fprintf(stderr,
			"%s: %s at the end of the archive were no whole chunk and are cut off; "
			"what was in them is asked for again\n",
			command, unit_bytes(bytes, kept.torn));
	code = follow_run(&a->follow, take_wave, a);
	client_keep_sync(a->follow.client);
	client_keep_counted(a->follow.client);
	kept = client_kept(a->follow.client);
	if (kept.fault && code == EXIT_FINE)
		fprintf(stderr, "%s: %s\n", command, kept.fault);
	if (kept.fault)
		code = EXIT_BAD_NEWS;
	if (common->json)
		account_json(a);
	table_say_of(stderr, account_write, a);
	follow_tell_cost(&a->follow);
	options_close(common, a->follow.client);
	return code;
}

/* ---- the command ---- */

/* Are these archives? Else says which one is none. */
static bool archives_are_there(const char *command, const char *word, char *const *folders, int n)
{
	struct archive_reader *r;
	struct error e;

	for (int i = 0; i < n; i++) {
		r = archive_reader_new(folders[i], &e);
		if (!r) {
			fprintf(stderr, "%s %s: %s\n", command, word, e.text);
			return false;
		}
		archive_reader_free(r);
	}
	return true;
}

static const char *const words[] = {"info", "ls", "check", "cut", "merge"};

#define WORDS (sizeof(words) / sizeof(words[0]))

/* No folder: "./ls" would be one. */
static bool is_word(const char *text)
{
	for (size_t i = 0; i < WORDS; i++)
		if (strcmp(words[i], text) == 0)
			return true;
	return false;
}

int archive_main(int argc, char **argv)
{
	static int (*const shows[])(const char *folder, bool json) = {archive_info, archive_ls,
								      archive_check};
	struct archive a = {.follow = {.command = "archive",
				       .until_end = true,
				       .common.look = {.view = "events",
						       .rate_hz = 50,
						       .backlog = 1,
						       .patience_ms = PATIENCE_MS}}};
	const struct common *common = &a.follow.common;
	int code = options_parse(argc, argv, &archive_usage, &a, &a.follow.common), word, n;
	char **folders;

	if (code >= 0)
		return code;
	if (common->n_words == 0) {
		fprintf(stderr, "%s: in which folder? evspace archive DIR\n", argv[0]);
		return EXIT_USAGE;
	}
	a.folder = common->words[0];
	if (common->n_words == 1 && !is_word(a.folder))
		return keep(&a, argv[0]);
	word = options_word(argv[0], a.folder, words, WORDS);
	if (word < 0)
		return EXIT_USAGE;
	folders = common->words + 1;
	n = common->n_words - 1;
	if (word < 3 ? n != 1 : word == 3 ? n != 2 : n < 1 || !a.into) {
		fprintf(stderr, "%s %s: write %s %s %s\n", argv[0], words[word], argv[0],
			words[word],
			word < 3    ? "DIR"
			: word == 3 ? "DIR OUT"
				    : "DIR... --into OUT");
		return EXIT_USAGE;
	}
	if (!archives_are_there(argv[0], words[word], folders, word == 3 ? 1 : n))
		return EXIT_USAGE;
	if (word < 3)
		return shows[word](folders[0], common->json);
	return word == 3 ? archive_cut(folders[0], folders[1], &a.range)
			 : archive_merge(folders, (unsigned)n, a.into);
}
