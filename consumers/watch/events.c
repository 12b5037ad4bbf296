/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace events: the paper's GetEvent monitor, every tuple of a view without further processing.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/watch/ending.h"
#include "consumers/watch/events.h"
#include "consumers/watch/loss.h"
#include "consumers/cli/options.h"
#include "consumers/watch/standing.h"
#include "consumers/cli/unit.h"
#include "pathmap/base/plural.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

static const char events_help[] =
	"usage: evspace events [options]\n"
	"\n"
	"Print every communication event of a run as it is collected, until Ctrl-C: when it began "
	"(the\n"
	"reference agent's time), in which thread and class, how long it took, how many bytes, "
	"what, "
	"with\n"
	"whom. In each wave they are in order of their ends. At the end, on stderr: how many there "
	"were,\n"
	"and how many were overwritten before they could be read.\n"
	"\n"
	"examples:\n"
	"  evspace events --backlog --until-end --json >events.json    # all there is and will be\n"
	"  evspace events --select '/**/collective' --duration 10s     # collectives of all "
	"threads\n"
	"  evspace events --select '/**/rank3/t0/**'                   # one thread\n"
	"  evspace events --connect front:7440 --view volume           # totals of a reduced view\n"
	"\n"
	"JSON: \"type\" is tuple, loss (so many lost before a tuple), discard (so many discarded "
	"before\n"
	"one), total, or at the end summary; times are Unix time in ns.\n";

/* Rates over less than this say nothing. */
#define RATE_AFTER_S 0.5

#define BUFFER_BYTES (1u << 16)

/* An event, and where it came in its wave. */
struct timed {
	struct evspace_event event;
	size_t place;
};

struct events {
	struct common common;
	bool until_end, csv;
	const struct events_format *format;
	struct evspace_client *client;
	uint64_t end_ns;
	struct ending ending;
	struct loss loss;
	struct standing standing;
	bool unread;	     /* nobody reads what we write any more */
	struct timed *timed; /* of the wave */
	size_t n, room;
};

static const struct option_row events_rows[] = {
	{"backlog", NULL, OPTION_ONE, .at = offsetof(struct events, common.look.backlog),
	 .help = "begin with what the elements still hold (default: from now on)"},
	{"until-end", .at = offsetof(struct events, until_end),
	 .help = "end when all processes have ended and everything is read; a run that had "
		 "ended before ends it without this, unless --count or --duration say when; "
		 "exit code 1 if processes of the run are not collected, or their files "
		 "damaged"},
	{"csv", .at = offsetof(struct events, csv),
	 .help = "comma-separated values, a line of names first"},
	{0},
};

static const struct usage events_usage = {
	.help = events_help,
	.own = events_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
};

/* ---- one wave ---- */

static int64_t news(const struct evspace_event *ev)
{
	return ev->end_ns ? ev->end_ns : ev->start_ns;
}

/* By time; those of an element stay in their order. */
static int compare(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (news(&x->event) != news(&y->event))
		return news(&x->event) > news(&y->event) ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

static void take_events(struct events *v)
{
	struct evspace_event ev;

	v->n = 0;
	while (evspace_event(v->client, &ev)) {
		if (v->n == v->room) {
			v->room = v->room ? 2 * v->room : 1024;
			v->timed = reallocarray(v->timed, v->room, sizeof(*v->timed));
			if (!v->timed)
				abort();
		}
		v->timed[v->n] = (struct timed){ev, v->n};
		v->n++;
	}
	if (v->n > 1)
		qsort(v->timed, v->n, sizeof(*v->timed), compare);
}

/* Returns whether there was anything in the wave. */
static bool print_wave(struct events *v)
{
	struct evspace_total total;
	struct evspace_loss loss;
	size_t width = table_width(stdout); /* which may have changed */
	bool any = false;

	while (evspace_loss(v->client, &loss)) {
		any = true;
		v->format->loss(&loss, width, stdout);
	}
	evspace_rewind(v->client);
	take_events(v);
	for (size_t i = 0; i < v->n; i++)
		v->format->event(v->client, &v->timed[i].event, width, stdout);
	evspace_rewind(v->client);
	while (evspace_total(v->client, &total)) {
		any = true;
		v->format->total(&total, width, stdout);
	}
	return any || v->n;
}

/* ---- the stream ---- */

static int milliseconds(uint64_t ns)
{
	return ns / 1000000u < INT_MAX ? (int)(ns / 1000000u) + 1 : INT_MAX;
}

/* What was seen is shown at once. Returns false when that is not possible any more. */
static bool shown(struct events *v)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	/* A reader that has gone, such as head(1), has seen what it wanted. */
	v->unread = true;
	return false;
}

static int follow(struct events *v)
{
	uint64_t now;
	int left, rc, code;
	bool any, last;

	for (;;) {
		now = clock_mono_ns();
		left = -1;
		if (v->end_ns && now >= v->end_ns)
			return standing_end(&v->standing, "evspace events", &v->common, v->client);
		if (v->end_ns)
			left = milliseconds(v->end_ns - now);
		rc = evspace_next(v->client, left);
		if (rc < 0) {
			fprintf(stderr, "evspace events: the connection is lost: %s\n",
				evspace_why(v->client));
			return EXIT_NO_CONNECTION;
		}
		if (rc == 0 && v->end_ns && clock_mono_ns() >= v->end_ns)
			continue;
		if (rc == 0)
			return EXIT_FINE;
		options_note_remapped("events", &v->common, v->client);
		options_note_missing("events", &v->common, v->client);
		standing_note_unreadable(&v->standing, "evspace events", v->client);
		loss_add(&v->loss, evspace_wave(v->client));
		loss_tell(&v->loss, "events", &v->common, evspace_wave(v->client));
		any = print_wave(v);
		if (!shown(v))
			return errno == 0 || errno == EPIPE ? EXIT_FINE : EXIT_BAD_NEWS;
		last = v->common.count && evspace_wave(v->client)->number >= v->common.count;
		code = standing_take(&v->standing, "evspace events", &v->common, v->client, last);
		if (code >= 0)
			return code;
		if (ending_reached(&v->ending, v->client, any) &&
		    ending_is_meant(&v->ending, v->until_end, v->common.count || v->end_ns))
			return v->standing.unreadable ? EXIT_BAD_NEWS : EXIT_FINE;
		if (last)
			return EXIT_FINE;
	}
}

static void summary_write(FILE *line, const void *arg)
{
	const struct events *v = arg;
	const struct evspace_wave *w = evspace_wave(v->client);
	char delivered[UNIT_TEXT], lost[UNIT_TEXT], bytes[UNIT_TEXT];
	char share[UNIT_TEXT], own_share[UNIT_TEXT];
	struct evspace_counts n;
	uint64_t each;

	evspace_counts(v->client, &n);
	each = n.waves ? n.waves : 1;
	fprintf(line, "%s tuple%s delivered", unit_count(delivered, n.delivered),
		plural(n.delivered, "s"));
	if (n.seconds > RATE_AFTER_S)
		fprintf(line, " (%.0f/s)", (double)n.delivered / n.seconds);
	fprintf(line, ", %s lost (overwritten before they were read)", unit_count(lost, n.lost));
	if (n.discarded)
		fprintf(line, ", %s discarded (by their lifetime or evspace discard)",
			unit_count(lost, n.discarded));
	if (n.filtered || n.reduced)
		fprintf(line, ", %llu filtered, %llu reduced", (unsigned long long)n.filtered,
			(unsigned long long)n.reduced);
	if (n.unaccounted)
		fprintf(line, ", %llu UNACCOUNTED FOR (please report this)",
			(unsigned long long)n.unaccounted);
	fprintf(line, "; %llu wave%s", (unsigned long long)n.waves, plural(n.waves, "s"));
	if (n.waves > 1 && n.seconds > RATE_AFTER_S)
		fprintf(line, " (%.1f/s)", (double)(n.waves - 1) / n.seconds);
	fprintf(line, ", the last from %u of %u host%s, each %s on the wire", w ? w->answered : 0,
		n.leaves, plural(n.leaves, "s"), unit_bytes(bytes, n.received_bytes / each));
	/* TLS alone makes it more. */
	if (n.unpacked_bytes > n.received_bytes)
		fprintf(line, " (%s before compression)",
			unit_bytes(bytes, n.unpacked_bytes / each));
	if (n.cpu_us >= each)
		fprintf(line, " and %llu us of CPU time of all agents",
			(unsigned long long)(n.cpu_us / each));
	if (n.seconds > RATE_AFTER_S)
		fprintf(line, " (%s of a core, this command %s)",
			unit_share(share, (double)n.cpu_us * 1e-6 / n.seconds),
			unit_share(own_share, (double)clock_cpu_us() * 1e-6 / n.seconds));
	if (n.reconnections)
		fprintf(line, ", %u reconnection%s", n.reconnections, plural(n.reconnections, "s"));
}

static void summary(const struct events *v)
{
	struct evspace_counts n;
	struct evspace_leaf leaf;

	evspace_counts(v->client, &n);
	v->format->summary(&n, stdout);
	table_say_of(stderr, summary_write, v);
	for (size_t i = 0; n.owing && evspace_leaf(v->client, i, &leaf); i++) {
		if (leaf.owing)
			fprintf(stderr,
				"%s has not answered all waves: what it read for them, if "
				"anything, has not come\n",
				leaf.name);
	}
}

int events_main(int argc, char **argv)
{
	struct events v = {.common.look = {.view = "events", .rate_hz = 10}};
	int code = options_parse(argc, argv, &events_usage, &v, &v.common);

	if (code >= 0)
		return code;
	if (v.common.json && v.csv) {
		fprintf(stderr, "%s: --json or --csv, not both\n", argv[0]);
		return EXIT_USAGE;
	}
	v.client = options_open(argv[0], &v.common, &code);
	if (!v.client)
		return code;
	options_catch_signals(v.client);
	if (v.common.duration_ns)
		v.end_ns = clock_mono_ns() + v.common.duration_ns;
	v.format = v.common.json ? &events_json : v.csv ? &events_csv : &events_text;
	setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
	fputs(v.format->begin, stdout);
	code = follow(&v);
	if (!v.unread)
		summary(&v);
	options_close(&v.common, v.client);
	free(v.timed);
	return code;
}
