/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace watch: runs a program, says what goes wrong in it, and keeps what led to it. */
#include "consumers/watchdog/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "pathmap/base/quantity.h"
#include "tree/data/clock.h"

static const char watch_help[] =
	"usage: evspace watch [options] [--] COMMAND [ARG...]\n"
	"       evspace watch --from DIR [--on KIND,...] [--check]\n"
	"\n"
	"Run a program as evspace run does, and watch it: say on stderr once what goes\n"
	"wrong, with whom, and once when that is over. What was seen, what all threads\n"
	"were in (with call sites) and the last events of all are kept in a folder. The\n"
	"exit code is that of the program. Where no agent listens, it starts one for as\n"
	"long as the program runs. What looking costs it is said after ten seconds, then\n"
	"every ten minutes, and at the end. Of an archive of all events (--from DIR) the\n"
	"same is said, with its time, but for stuck: calls that have not ended are in\n"
	"none; the exit code is 0, or 1 with --check.\n"
	"\n"
	"  desync  ranks call other collectives than the rest of their communicator\n"
	"  stuck   threads are in one operation for too long, or all have died: who is\n"
	"          to blame\n"
	"  late    a rank comes late to collectives often, and the others lose 5 % of\n"
	"          their time by it (call sites are told apart: 6 ns more for each)\n"
	"  slower  a rank computes longer than the best one before the same collective,\n"
	"          or in a region (evspace.h), or than it did itself: a score below 0.7\n"
	"          that costs 5 % of its time\n";

static const char watch_more[] =
	"examples:\n"
	"  evspace watch -- mpirun -np 4 ./app\n"
	"  evspace watch --on stuck --stuck-after 60s --check -- srun -n 64 ./app\n"
	"  evspace watch --from /data/solver --on late\n";

/* Looks a second, where the user says nothing. */
#define RATE 10

/* Many programs let some ranks wait for a while. */
#define STUCK_AFTER_NS 10000000000

/* How long the processes may take to be gone after their launcher. */
#define GONE_WITHIN_NS UINT64_C(3000000000)

static const char *const kinds[WATCH_KINDS] = {
	[WATCH_DESYNC] = "desync",
	[WATCH_STUCK] = "stuck",
	[WATCH_LATE] = "late",
	[WATCH_SLOWER] = "slower",
};

/* ---- options ---- */

/* "stuck,desync" or "stuck|desync" */
static int on_take(void *into, const char *value, struct error *e)
{
	struct watch *w = into;
	size_t n;

	for (; *value; value += n + (value[n] != '\0')) {
		unsigned kind = 0;

		n = strcspn(value, ",|");
		while (kind < WATCH_KINDS &&
		       (strlen(kinds[kind]) != n || strncmp(value, kinds[kind], n) != 0))
			kind++;
		if (kind == WATCH_KINDS)
			return errorf(e,
				      "'%.*s' is nothing to watch for; there are desync, stuck, "
				      "late and slower",
				      (int)n, value);
		w->on[kind] = true;
	}
	return 0;
}

static int stuck_take(void *into, const char *value, struct error *e)
{
	uint64_t ns;

	if (quantity_duration(value, QUANTITY_SECONDS, &ns, e) < 0)
		return -1;
	((struct watch *)into)->heartbeat.stuck_after_ns = (int64_t)ns;
	return 0;
}

static const struct option_row watch_rows[] = {
	{"on", "KIND,...", .take = on_take,
	 .help = "what to watch for (default: desync,stuck; late and slower read all events)"},
	{"check", .at = offsetof(struct watch, check),
	 .help = "exit code 1 if something was seen, even if the program ends well"},
	{"save", "DIR", OPTION_TEXT, .at = offsetof(struct watch, save),
	 .help = "keep it there (default: evspace-watch-RUN, made when something is seen)"},
	{"last", "TIME", OPTION_TIME, .at = offsetof(struct watch, last_ns),
	 .help = "keep the events of so long before (default 10s)"},
	{"stacks", .at = offsetof(struct watch, stacks),
	 .help = "keep the stacks of all ranks, too: their agents stop each thread for a moment"},
	{"stuck-after", "TIME", .take = stuck_take,
	 .help = "how long in one operation is stuck (default 10s)"},
	{"run", "NAME", OPTION_TEXT, .at = offsetof(struct watch, run),
	 .help = "what the run is called (default: watch and a number)"},
	{"pathmap", "DIR", OPTION_TEXT, .at = offsetof(struct watch, pathmap),
	 .help = "take what is collected from DIR/application.map"},
	{0},
};

static const struct usage watch_usage = {
	.help = watch_help,
	.after = watch_more,
	.own = watch_rows,
	.takes = OPTIONS_LOOK | OPTIONS_WAVES,
	.lacks = " window tree concurrency count duration compress patience monitored "
		 "wait ",
	.program = true,
};

/* ---- alarms ---- */

static bool kind_is_seen(const struct watch *w, enum watch_kind kind)
{
	const struct heartbeat *h = &w->heartbeat;

	switch (kind) {
	case WATCH_DESYNC:
		return h->n_found > 0;
	case WATCH_STUCK:
		return h->stuck > 0;
	case WATCH_LATE:
		return w->late && colop_live_late(w->late) > 0;
	default:
		return w->n_slow > 0;
	}
}

/* Does the odd side say where it is, or is it in nothing any more? */
static bool is_located(const struct disagreement *d)
{
	return d->majority && (d->sides[1].site || !d->sides[1].inside);
}

/* Will nothing more be known of it? */
static bool kind_is_sure(const struct watch *w, enum watch_kind kind)
{
	const struct heartbeat *h = &w->heartbeat;

	switch (kind) {
	case WATCH_DESYNC:
		return h->ended || is_located(&h->found[0]);
	case WATCH_STUCK:
		return h->ended || heartbeat_is_told(h);
	default:
		return false;
	}
}

static void begins(struct watch *w, enum watch_kind kind)
{
	char *text = NULL, when[32] = "";
	const char *end;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	if (kind == WATCH_DESYNC)
		heartbeat_say_disagreements(&w->heartbeat, out);
	else if (kind == WATCH_STUCK)
		heartbeat_say_stuck(&w->heartbeat, out);
	else if (kind == WATCH_LATE)
		colop_live_say(w->late, out);
	else
		watch_say_slow(w, out);
	if (fclose(out))
		abort();
	w->seen++;
	if (watch_replays(w))
		words_clock(when, sizeof(when), w->newest_ns, 3);
	for (const char *line = text; (end = strchr(line, '\n')); line = end + 1)
		fprintf(stderr, "evspace watch: %s: %s%s%.*s\n", kinds[kind], when,
			*when ? ": " : "", (int)(end - line), line);
	if (!watch_replays(w))
		watch_save(w, kinds[kind], text);
	free(text);
}

/* The program's @end, or the trouble is over. */
static void is_over(enum watch_kind kind, uint64_t ns, bool end)
{
	char after[UNIT_TEXT];

	fprintf(stderr, "evspace watch: %s: %s %s\n", kinds[kind],
		end ? "the program has ended after" : "over after", unit_duration(after, ns));
}

void watch_alarms(struct watch *w, uint64_t now_ns, bool last)
{
	for (enum watch_kind kind = 0; kind < WATCH_KINDS; kind++) {
		struct alarm *a = &w->alarms[kind], before = *a;
		bool seen = w->on[kind] && kind_is_seen(w, kind);
		/* what has died stays as it was */
		enum alarm_news news =
			w->heartbeat.ended && !seen
				? ALARM_NOTHING
				: alarm_take(a, seen, seen && (last || kind_is_sure(w, kind)),
					     now_ns);

		if (news == ALARM_BEGINS)
			begins(w, kind);
		else if (news == ALARM_OVER)
			is_over(kind, before.last_ns - before.first_ns, false);
	}
}

static void take(struct watch *w)
{
	uint64_t now = clock_mono_ns();

	options_note_missing("watch", &w->heartbeat.common, w->heartbeat.client);
	heartbeat_take(&w->heartbeat);
	watch_alarms(w, now, false);
}

/* ---- looking ---- */

/* Is there nothing more to come of a program that has ended? */
static bool is_read(const struct watch *w)
{
	return !w->heartbeat.begun || (w->heartbeat.ended && (w->drained || !w->stream));
}

/* Look until the program has ended, and at what its processes were in then. Returns its exit code.
 */
static int look(struct watch *w)
{
	uint64_t until = 0;
	int code = 0, rc;

	do {
		rc = evspace_next(w->heartbeat.client, 100);
		/* a budget may leave ten seconds between two looks: events, and costs, have theirs
		 */
		watch_stream_take(w);
		if (rc > 0)
			take(w);
		toll_step(w->toll);
		if (!until && watch_ended(w, false, &code))
			until = clock_mono_ns() + GONE_WITHIN_NS;
	} while (rc >= 0 && !(until && (is_read(w) || clock_mono_ns() >= until)));
	if (rc < 0) {
		(void)options_ended("evspace watch", w->heartbeat.client);
		if (!until)
			watch_ended(w, true, &code);
	}
	for (enum watch_kind kind = 0; kind < WATCH_KINDS; kind++) {
		if (w->alarms[kind].on)
			is_over(kind, clock_mono_ns() - w->alarms[kind].first_ns, true);
	}
	return code;
}

static void settle(struct watch *w)
{
	bool any = false;

	for (enum watch_kind kind = 0; kind < WATCH_KINDS; kind++)
		any |= w->on[kind];
	if (!any && watch_replays(w))
		w->on[WATCH_DESYNC] = w->on[WATCH_LATE] = w->on[WATCH_SLOWER] = true;
	else if (!any)
		w->on[WATCH_DESYNC] = w->on[WATCH_STUCK] = true;
	w->heartbeat.check = true; /* it says nothing by itself */
}

int watch_main(int argc, char **argv)
{
	struct watch w = {.last_ns = UINT64_C(10000000000)};
	int code;

	heartbeat_init(&w.heartbeat);
	w.heartbeat.stuck_after_ns = STUCK_AFTER_NS;
	w.heartbeat.common.look =
		(struct evspace_options){.view = "heartbeat@element", .rate_hz = RATE, .wait = 1};
	code = options_parse(argc, argv, &watch_usage, &w, &w.heartbeat.common);
	if (code < 0 && w.heartbeat.common.n_words == 0 && !watch_replays(&w)) {
		fputs("evspace watch: which program? as in: evspace watch -- mpirun -np 2 ./app\n",
		      stderr);
		code = EXIT_USAGE;
	}
	if (code < 0) {
		settle(&w);
		code = watch_replays(&w) ? watch_replay(&w, argv[0]) : watch_start(&w);
	}
	if (code < 0) {
		(void)watch_stream_open(&w);
		w.toll = toll_of(w.heartbeat.client, "watch", false);
		toll_beside(w.toll, w.stream);
		toll_seldom(w.toll, "watch");
		code = look(&w);
		toll_end(w.toll);
		toll_free(w.toll);
		if (code == EXIT_FINE && w.check && w.seen)
			code = EXIT_BAD_NEWS;
	}
	watch_stream_close(&w);
	watch_stop(&w);
	heartbeat_fini(&w.heartbeat);
	free(w.folder);
	free(w.name);
	return code;
}
