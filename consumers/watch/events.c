/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace events: the paper's GetEvent monitor, every tuple of a view without further
 * processing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/watch/events-order.h"
#include "consumers/watch/events.h"
#include "consumers/watch/follow.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

static const char events_help[] =
	"usage: evspace events [options]\n"
	"\n"
	"Print every communication event of a run as it is collected, until Ctrl-C: when\n"
	"it began (the reference agent's time), in which thread and class, how long it\n"
	"took, how many bytes, what, with whom. In each wave they are in order of their\n"
	"ends. At the end, on stderr: how many there were, and how many were overwritten\n"
	"before they could be read.\n"
	"\n"
	"examples:\n"
	"  evspace events --backlog --until-end --json >all.json   # the whole run\n"
	"  evspace events --select '/**/collective' --duration 10s # of all threads\n"
	"  evspace events --select '/**/rank3/t0/**'               # of one thread\n"
	"  evspace events --select '/**/element:residual'          # evspace-element(3)\n"
	"  evspace events --connect front:7440 --view volume       # totals of a view\n"
	"\n"
	"JSON: \"type\" is tuple, element (a tuple of a program's own element, \"fields\"\n"
	"by name), loss (so many lost before a tuple), discard (so many discarded before\n"
	"one), total, figure, or at the end summary; times are Unix time in ns.\n";

/* A rate over a shorter time means nothing. */
#define RATE_AFTER_S 0.5

#define BUFFER_BYTES (1u << 16)

struct events {
	struct follower follow;
	bool csv;
	const struct events_format *format;
	struct events_order order; /* of the wave, */
	struct typed_order typed;  /* and of programs' own elements */
	uint64_t left_out;	   /* of these, by CSV */
};

static const struct option_row events_rows[] = {
	{"backlog", NULL, OPTION_ONE, .at = offsetof(struct events, follow.common.look.backlog),
	 .help = "begin with what the elements still hold (default: from now on)"},
	{"until-end", .at = offsetof(struct events, follow.until_end),
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

/* Events and tuples of programs' own elements, by time. */
static bool events_write(struct events *v, size_t width)
{
	struct evspace_client *client = v->follow.client;
	size_t i = 0, k = 0;

	events_order(&v->order, client);
	evspace_rewind(client);
	typed_order(&v->typed, client);
	v->left_out += v->csv ? v->typed.n : 0;
	while (i < v->order.n || k < v->typed.n) {
		const struct evspace_event *ev = i < v->order.n ? &v->order.items[i].event : NULL;
		const struct evspace_typed *typed =
			k < v->typed.n ? &v->typed.items[k].typed : NULL;

		if (ev && (!typed || event_news(ev) <= typed->time_ns)) {
			v->format->event(client, ev, width, stdout);
			i++;
		} else {
			v->format->typed(typed, width, stdout);
			k++;
		}
	}
	return i + k > 0;
}

static bool take_wave(void *arg, uint64_t *seen)
{
	struct events *v = arg;
	struct follower *f = &v->follow;
	struct evspace_figure figure;
	struct evspace_total total;
	struct evspace_loss loss;
	size_t width = table_width(stdout); /* may change at any time */
	bool any = false;

	*seen = evspace_wave(f->client)->number;
	options_note_missing(f->command, &f->common, f->client);
	standing_note_unreadable(&f->standing, "evspace events", f->client);
	follow_tell_loss(f);
	while (evspace_loss(f->client, &loss)) {
		any = true;
		v->format->loss(&loss, width, stdout);
	}
	evspace_rewind(f->client);
	any |= events_write(v, width);
	evspace_rewind(f->client);
	while (evspace_total(f->client, &total)) {
		any = true;
		v->format->total(f->client, &total, width, stdout);
	}
	evspace_rewind(f->client);
	while (evspace_figure(f->client, &figure)) {
		any = true;
		v->format->figure(&figure, width, stdout);
	}
	return any;
}

static void summary_write(FILE *line, const void *arg)
{
	const struct events *v = arg;
	const struct evspace_wave *w = evspace_wave(v->follow.client);
	char delivered[UNIT_TEXT], lost[UNIT_TEXT], bytes[UNIT_TEXT];
	char share[UNIT_TEXT], own_share[UNIT_TEXT];
	uint64_t sampled = evspace_sampled(v->follow.client), each;
	struct evspace_counts n;

	evspace_counts(v->follow.client, &n);
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
		fprintf(line, ", %llu filtered, %llu reduced",
			(unsigned long long)(n.filtered - sampled), (unsigned long long)n.reduced);
	if (sampled)
		fprintf(line, ", %s sampled out", unit_count(lost, sampled));
	if (n.unaccounted)
		fprintf(line, ", %llu UNACCOUNTED FOR (please report this)",
			(unsigned long long)n.unaccounted);
	fprintf(line, "; %llu wave%s", (unsigned long long)n.waves, plural(n.waves, "s"));
	if (n.waves > 1 && n.seconds > RATE_AFTER_S)
		fprintf(line, " (%.1f/s)", (double)(n.waves - 1) / n.seconds);
	fprintf(line, ", the last from %u of %u host%s, each %s on the wire", w ? w->answered : 0,
		n.leaves, plural(n.leaves, "s"), unit_bytes(bytes, n.received_bytes / each));
	/* TLS alone makes it larger */
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

	evspace_counts(v->follow.client, &n);
	v->format->summary(&n, evspace_sampled(v->follow.client), stdout);
	table_say_of(stderr, summary_write, v);
	if (v->left_out)
		table_say(stderr,
			  "%llu tuples of programs' own elements are left out: CSV has no columns "
			  "for them, --json has them",
			  (unsigned long long)v->left_out);
	for (size_t i = 0; n.owing && evspace_leaf(v->follow.client, i, &leaf); i++) {
		if (leaf.owing)
			fprintf(stderr,
				"%s has not answered all waves: what it read for them, if "
				"anything, has not come\n",
				leaf.name);
	}
}

int events_main(int argc, char **argv)
{
	struct events v = {
		.follow = {.command = "events", .common.look = {.view = "events", .rate_hz = 10}}};
	int code = options_parse(argc, argv, &events_usage, &v, &v.follow.common);

	if (code >= 0)
		return code;
	if (v.follow.common.json && v.csv) {
		fprintf(stderr, "%s: --json or --csv, not both\n", argv[0]);
		return EXIT_USAGE;
	}
	v.follow.client = options_open(argv[0], &v.follow.common, &code);
	if (!v.follow.client)
		return code;
	v.format = v.follow.common.json ? &events_json : v.csv ? &events_csv : &events_text;
	setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
	fputs(v.format->begin, stdout);
	code = follow_run(&v.follow, take_wave, &v);
	if (!v.follow.unread)
		summary(&v);
	follow_tell_cost(&v.follow);
	options_close(&v.follow.common, v.follow.client);
	free(v.order.items);
	free(v.typed.items);
	return code;
}
