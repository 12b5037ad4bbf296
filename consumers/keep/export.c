/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace export: events in the formats of other tools. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/module.h"
#include "consumers/cli/status-line.h"
#include "consumers/client/client-replay.h"
#include "consumers/keep/export.h"
#include "consumers/keep/progress.h"
#include "consumers/watch/events.h"
#include "consumers/watch/follow.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/op.h"

static const char export_help[] =
	"usage: evspace export --to FORMAT [options] OUT\n"
	"\n"
	"Write the events of an archive (--from DIR), or of a run until its end, to OUT\n"
	"in the format of other tools:\n"
	"\n"
	"  csv, jsonl  a line for each event, as of `evspace events`; OUT may be -\n"
	"  otf2        a folder that Vampir, Scalasca and ViTE read: calls, messages and\n"
	"              collectives with their communicators\n"
	"  ctf         a folder that babeltrace2 and Trace Compass read\n"
	"  perfetto    a file for ui.perfetto.dev: slices, and flows for messages\n"
	"  paje        a file that ViTE and pj_dump read: states and links\n"
	"\n"
	"All but csv and jsonl are sorted, in 64 MiB of memory and, if there is more, in\n"
	"a file without a name beside OUT: 56 bytes for each call and end of a message,\n"
	"for perfetto and paje 104. What is lost is in none of them but csv and jsonl;\n"
	"how much that is, is said at the end.\n"
	"\n"
	"examples:\n"
	"  evspace export --to otf2 --from /data/solver solver-otf2\n"
	"  evspace export --to csv --from /data/solver --select '/**/rank3/**' - | head\n";

#define BUFFER_BYTES (1u << 20)

struct export
{
	struct follower follow;
	const char *to, *out;
	const struct events_format *lines; /* NULL: of a trace */
	export_write *write;		   /* of a trace; NULL: by the object for OTF2 */
	FILE *file;
	bool is_begun; /* lines are written to it */
	bool is_new;   /* nothing was there */
	struct trace_run trace;
	struct read_progress progress;
	uint64_t typed;	    /* tuples of programs' own elements that are in no such format */
	struct error fault; /* "": none; nothing more is taken */
};

static const struct option_row export_rows[] = {
	{"to", "FORMAT", OPTION_TEXT, .at = offsetof(struct export, to),
	 .help = "csv, jsonl, otf2, ctf, perfetto or paje"},
	{0},
};

static const struct usage export_usage = {
	.help = export_help,
	.own = export_rows,
	.takes = OPTIONS_LOOK | OPTIONS_VIEW | OPTIONS_WAVES,
	.lacks = " count ",
	.words_max = 1,
};

/* ---- waves ---- */

/* What was there before goes only now that something comes. */
static void lines_begin(struct export *x)
{
	if (x->is_begun)
		return;
	x->is_begun = true;
	/* what cannot be cut has nothing in it: a device, a pipe */
	if (x->file != stdout && ftruncate(fileno(x->file), 0) < 0 && errno != EINVAL)
		evspace_stop(x->follow.client);
	fputs(x->lines->begin, x->file);
}

static void lines_write(struct export *x)
{
	struct evspace_event ev;
	struct evspace_loss loss;

	lines_begin(x);
	while (evspace_loss(x->follow.client, &loss)) {
		x->trace.lost += loss.lost;
		x->lines->loss(&loss, 0, x->file);
	}
	evspace_rewind(x->follow.client);
	while (evspace_event(x->follow.client, &ev)) {
		x->trace.events++;
		x->lines->event(x->follow.client, &ev, 0, x->file);
	}
	/* a full disk: export_close() says so */
	if (ferror(x->file) && x->file != stdout)
		evspace_stop(x->follow.client);
}

/* Of programs' own elements: JSON has their fields. */
static void typed_take(struct export *x)
{
	const bool written = x->lines == &events_json;
	struct evspace_typed typed;

	evspace_rewind(x->follow.client);
	while (evspace_typed(x->follow.client, &typed)) {
		x->trace.events += written;
		x->typed += !written;
		if (written)
			x->lines->typed(&typed, 0, x->file);
	}
}

static bool take_wave(void *arg, uint64_t *seen)
{
	struct export *x = arg;

	*seen = evspace_wave(x->follow.client)->number;
	options_note_missing(x->follow.command, &x->follow.common, x->follow.client);
	if (x->lines)
		lines_write(x);
	else if (!x->fault.text[0] && trace_take(&x->trace, x->follow.client, &x->fault) < 0)
		evspace_stop(x->follow.client);
	typed_take(x);
	progress_show(&x->progress, "events read", x->trace.events,
		      client_replay_share(x->follow.client));
	return false;
}

/* ---- the end ---- */

static int otf2_write(struct export *x, struct error *e)
{
	export_otf2_function *function = NULL;
	const char *why;

	*(void **)(void *)&function = module_function(EXPORT_OTF2_OBJECT, EXPORT_OTF2_SYMBOL,
						      "OTF2 (libopen-trace-format2-dev)", e);
	if (!function)
		return -1;
	why = function(&x->trace, x->out, trace_op_name, trace_walk_paired);
	return why ? errorf(e, "%s: %s", x->out, why) : 0;
}

/* How much of a thread's name is its process's: all but the last part. */
static int process_bytes(const struct trace_thread *t)
{
	const char *end = strrchr(t->name, '/');

	return end ? (int)(end - t->name) : (int)strlen(t->name);
}

/* OTF2 tells the members of communicators by one number for each process, and of several worlds it
 * is not known whose ranks members are. */
static int otf2_check(const struct export *x, struct error *e)
{
	const struct trace_thread *before = NULL;

	errno = EINVAL;
	for (const struct trace_thread *t = x->trace.threads; t; t = t->hh.next) {
		const char *process = strrchr(t->name, '/') ? t->name + process_bytes(t) : t->name;

		while (process > t->name && process[-1] != '/')
			process--;
		if (t->rank < 0 && strncmp(process, "rank", 4) == 0)
			return errorf(
				e,
				"%.*s is of a world that was spawned, whose ranks OTF2 would "
				"take for those of the first one; ctf, perfetto and paje do not",
				process_bytes(t), t->name);
		if (before && t->rank >= 0 && t->rank == before->rank &&
		    (process_bytes(t) != process_bytes(before) ||
		     strncmp(t->name, before->name, (size_t)process_bytes(t)) != 0))
			return errorf(e,
				      "%.*s and %.*s are both rank %d, which OTF2 would take for "
				      "one; --select exports one run",
				      process_bytes(before), before->name, process_bytes(t),
				      t->name, t->rank);
		before = t;
	}
	return 0;
}

static int trace_write(struct export *x, struct error *e)
{
	if (x->fault.text[0])
		return errorf(e, "%s", x->fault.text);
	errno = ENODATA;
	if (x->trace.events == 0)
		return errorf(e, "there is no event to export%s",
			      x->typed ? ", only tuples of programs' own elements: these can be in "
					 "jsonl"
				       : "");
	trace_sort(&x->trace);
	if (!x->write && otf2_check(x, e) < 0)
		return -1;
	x->trace.progress = &x->progress;
	x->trace.stopped = options_interrupted;
	options_catch_signals(x->follow.client);
	return x->write ? x->write(&x->trace, x->out, e) : otf2_write(x, e);
}

static void account_write(FILE *line, const void *arg)
{
	const struct export *x = arg;
	char n[UNIT_TEXT];

	fprintf(line, "%s events in %s", unit_count(n, x->trace.events), x->out);
	fprintf(line, ", %s lost or discarded", unit_count(n, x->trace.lost));
	if (x->trace.under_way)
		fprintf(line, ", %s left out that have no end", unit_count(n, x->trace.under_way));
	if (x->trace.alone)
		fprintf(line, ", %s messages of which one side is not there",
			unit_count(n, x->trace.alone));
	if (x->trace.unknown)
		fprintf(line,
			", %s sent or received of which nobody knows what belongs to them, as some "
			"are missing",
			unit_count(n, x->trace.unknown));
	if (x->typed)
		fprintf(line,
			"; %s tuple%s of programs' own elements left out, which jsonl alone has",
			unit_count(n, x->typed), x->typed == 1 ? "" : "s");
}

/* Ctrl-C ends a run well, as it has no other end; of an archive not all is there then. */
static bool is_cut_short(const struct export *x)
{
	return options_interrupted() && client_replay_share(x->follow.client) >= 0;
}

static void cut_short_write(FILE *line, const void *arg)
{
	const struct export *x = arg;
	char n[UNIT_TEXT];

	fprintf(line, "evspace export: interrupted after %.0f %% of %s: ",
		100 * client_replay_share(x->follow.client),
		client_replay_folder(x->follow.common.look.connect));
	if (x->lines)
		fprintf(line, "%s has its first %s events", x->out, unit_count(n, x->trace.events));
	else
		fprintf(line, "nothing is in %s", x->out);
}

static int run(struct export *x, const char *command)
{
	struct error e = {""};
	bool cut_short;
	int code, rc;

	x->follow.client = options_open(command, &x->follow.common, &code);
	if (!x->follow.client)
		return code;
	if (!x->lines)
		trace_init(&x->trace, x->out);
	code = follow_run(&x->follow, take_wave, x);
	cut_short = is_cut_short(x);
	if (x->lines && (code == EXIT_FINE || cut_short))
		lines_begin(x);
	x->trace.begun = x->is_begun && x->file != stdout;
	rc = x->lines || cut_short ? 0 : trace_write(x, &e);
	status_line_clear();
	if (x->lines && x->file != stdout) {
		rc = export_close(x->file, x->out, &e);
		x->file = NULL;
	}
	if (rc < 0 && x->trace.begun)
		fprintf(stderr, "%s: %s; what is in %s is not whole: remove it\n", command, e.text,
			x->out);
	else if (rc < 0)
		fprintf(stderr, "%s: %s\n", command, e.text);
	code = rc < 0 || cut_short ? EXIT_BAD_NEWS : code;
	if (rc == 0 && cut_short) {
		table_say_of(stderr, cut_short_write, x);
	} else if (rc == 0 && !x->follow.unread) {
		table_say_of(stderr, account_write, x);
	}
	follow_tell_cost(&x->follow);
	options_close(&x->follow.common, x->follow.client);
	trace_fini(&x->trace);
	return code;
}

/* ---- the command ---- */

/* A trace that is there is left alone, which is said before anything is read. */
static bool otf2_is_free(const struct export *x, const char *command)
{
	char *path = memory_format("%s/traces.otf2", x->out);
	bool is_free = access(path, F_OK) < 0;

	free(path);
	if (!is_free)
		fprintf(stderr, "%s: %s: there is a trace in it already\n", command, x->out);
	return is_free;
}

static bool lines_open(struct export *x, const char *command)
{
	const bool out = strcmp(x->out, "-") == 0;
	const bool none = !out && access(x->out, F_OK) < 0;
	int fd = out ? -1 : open(x->out, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	x->file = out ? stdout : fd < 0 ? NULL : fdopen(fd, "w");
	if (!x->file) {
		fprintf(stderr, "%s: %s: %s\n", command, x->out, strerror(errno));
		return false;
	}
	x->is_new = none;
	setvbuf(x->file, NULL, _IOFBF, BUFFER_BYTES);
	return true;
}

int export_main(int argc, char **argv)
{
	static const char *const formats[] = {"csv", "jsonl", "otf2", "ctf", "perfetto", "paje"};
	static export_write *const writes[] = {NULL,	   NULL, NULL, export_ctf, export_perfetto,
					       export_paje};
	struct export x = {
		.follow = {.command = "export",
			   .until_end = true,
			   .common.look = {.view = "events", .rate_hz = 10, .backlog = 1}}};
	int code = options_parse(argc, argv, &export_usage, &x, &x.follow.common), to;

	if (code >= 0)
		return code;
	if (!x.to || x.follow.common.n_words == 0) {
		fprintf(stderr, "%s: to which format, and where? evspace export --to FORMAT OUT\n",
			argv[0]);
		return EXIT_USAGE;
	}
	to = options_word(argv[0], x.to, formats, sizeof(formats) / sizeof(formats[0]));
	if (to < 0)
		return EXIT_USAGE;
	x.out = x.follow.common.words[0];
	x.write = writes[to];
	x.lines = to == 0 ? &events_csv : to == 1 ? &events_json : NULL;
	if (x.lines ? !lines_open(&x, argv[0]) : !x.write && !otf2_is_free(&x, argv[0]))
		return EXIT_BAD_NEWS;
	code = run(&x, argv[0]);
	if (x.file && x.file != stdout)
		fclose(x.file);
	/* nothing has come, and nothing is left of it */
	if (x.is_new && !x.is_begun && code != EXIT_FINE)
		unlink(x.out);
	return code;
}
