/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace events: the paper's GetEvent monitor, every tuple of a view without further processing.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "consumers/client.h"
#include "consumers/command.h"
#include "consumers/options.h"
#include "consumers/unit.h"
#include "tree/clock.h"

static const char events_help[] =
	"usage: evspace events [options]\n"
	"\n"
	"Print every communication event of a run as it is collected, until Ctrl-C; at the end, "
	"how many\n"
	"there were and how many were overwritten before they could be read.\n"
	"\n"
	"examples:\n"
	"  evspace events --backlog --until-end --json >events.json    # all there is and will be\n"
	"  evspace events --select '/**/collective' --duration 10s     # collectives of all "
	"threads\n"
	"  evspace events --connect front:7440 --view volume           # totals of a reduced view\n"
	"\n"
	"  --backlog         begin with what the elements still hold (default: from now on)\n"
	"  --until-end       end when all processes have ended and everything is read\n"
	"  --csv             comma-separated values, a line of names first\n";

enum { BACKLOG = 256, UNTIL_END, CSV };

static const struct own_option own[] = {
	{"backlog", false, BACKLOG},
	{"until-end", false, UNTIL_END},
	{"csv", false, CSV},
	{NULL, false, 0},
};

struct events {
	struct common common;
	bool until_end, csv;
	struct evspace_client *client;
	uint64_t end_ns;
	unsigned quiet; /* waves in a row that found no process alive and brought nothing */
};

static int own_take(void *arg, int code, const char *value, struct error *e)
{
	struct events *v = arg;

	(void)value;
	(void)e;
	v->common.look.backlog |= code == BACKLOG;
	v->until_end |= code == UNTIL_END;
	v->csv |= code == CSV;
	return 0;
}

/* ---- one event ---- */

static void print_json(const struct evspace_event *ev)
{
	json_t *o = json_pack(
		"{s:i,s:s?,s:s,s:i,s:I,s:I,s:I,s:f,s:i,s:I,s:I,s:I,s:b,s:b,s:b,s:b}", "schema", 1,
		"name", ev->name, "op", ev->op, "rank", ev->rank, "number", (json_int_t)ev->number,
		"start_ns", (json_int_t)ev->start_ns, "end_ns", (json_int_t)ev->end_ns, "error_ns",
		ev->error_ns, "peer", ev->peer, "seq_or_tag", (json_int_t)ev->seq_or_tag, "comm",
		(json_int_t)ev->comm, "bytes", (json_int_t)ev->bytes, "running",
		!!(ev->flags & EVSPACE_RUNNING), "completion", !!(ev->flags & EVSPACE_COMPLETION),
		"failed", !!(ev->flags & EVSPACE_FAILED), "unattributed",
		!!(ev->flags & EVSPACE_UNATTRIBUTED));

	if (!o)
		abort();
	json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(o);
}

static void print_csv(const struct evspace_event *ev)
{
	printf("%s,%llu,%lld,%lld,%s,%d,%u,%08x,%llu,%u\n", ev->name,
	       (unsigned long long)ev->number, (long long)ev->start_ns, (long long)ev->end_ns,
	       ev->op, ev->peer, ev->seq_or_tag, ev->comm, (unsigned long long)ev->bytes,
	       ev->flags);
}

static void print_text(const struct evspace_event *ev)
{
	time_t second = (time_t)(ev->start_ns / 1000000000);
	char clock[16], took[UNIT_TEXT] = "running", bytes[UNIT_TEXT], who[32] = "";
	struct tm tm;

	localtime_r(&second, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	if (ev->end_ns)
		unit_duration(took, (uint64_t)(ev->end_ns - ev->start_ns));
	if (ev->peer >= 0)
		snprintf(who, sizeof(who), "rank %d tag %u", ev->peer, ev->seq_or_tag);
	else if (ev->peer == -2)
		snprintf(who, sizeof(who), "any rank");
	else if (ev->comm)
		snprintf(who, sizeof(who), "%08x #%u", ev->comm, ev->seq_or_tag);
	printf("%s.%06lld  %-32s %-20s %10s  %-22s %10s%s%s\n", clock,
	       (long long)(ev->start_ns % 1000000000 / 1000), ev->name, ev->op, took, who,
	       unit_bytes(bytes, ev->bytes), ev->flags & EVSPACE_COMPLETION ? "  completed" : "",
	       ev->flags & EVSPACE_FAILED ? "  FAILED" : "");
}

static void print_total(const struct events *v, const struct evspace_total *t)
{
	double figure = strcmp(t->fold, "count") == 0  ? (double)t->count
			: strcmp(t->fold, "sum") == 0  ? (double)t->sum
			: strcmp(t->fold, "min") == 0  ? (double)t->min
			: strcmp(t->fold, "max") == 0  ? (double)t->max
			: strcmp(t->fold, "mean") == 0 ? t->mean
						       : t->variance;

	if (v->common.json)
		printf("{\"schema\":1,\"name\":\"%s\",\"op\":\"%s\",\"comm\":%u,\"what\":\"%s\","
		       "\"fold\":\"%s\",\"value\":%.17g,\"count\":%llu,\"sum\":%llu,\"min\":%llu,"
		       "\"max\":%llu,\"mean\":%.17g,\"variance\":%.17g}\n",
		       t->name, t->op, t->comm, t->what, t->fold, figure,
		       (unsigned long long)t->count, (unsigned long long)t->sum,
		       (unsigned long long)t->min, (unsigned long long)t->max, t->mean,
		       t->variance);
	else if (v->csv)
		printf("%s,%s,%08x,%s,%s,%.17g,%llu\n", t->name, t->op, t->comm, t->what, t->fold,
		       figure, (unsigned long long)t->count);
	else
		printf("%-32s %-20s %s of %s: %.6g (of %llu)\n", t->name, t->op, t->fold, t->what,
		       figure, (unsigned long long)t->count);
}

/* ---- the stream ---- */

static bool print_wave(struct events *v)
{
	struct evspace_event ev;
	struct evspace_total total;
	bool any = false;

	while (evspace_event(v->client, &ev)) {
		any = true;
		if (v->common.json)
			print_json(&ev);
		else if (v->csv)
			print_csv(&ev);
		else
			print_text(&ev);
	}
	evspace_rewind(v->client);
	while (evspace_total(v->client, &total)) {
		any = true;
		print_total(v, &total);
	}
	return any;
}

/* Nothing came, nobody is missing, and no process lives that could write more: twice, to be sure.
 */
static bool at_end(struct events *v, bool any)
{
	const struct evspace_wave *w = evspace_wave(v->client);

	if (any || w->n_missing || w->processes || w->elements == 0)
		v->quiet = 0;
	else
		v->quiet++;
	return v->until_end && v->quiet >= 2;
}

static int follow(struct events *v)
{
	uint64_t now;
	int left, rc;

	for (;;) {
		now = clock_mono_ns();
		left = -1;
		if (v->end_ns) {
			if (now >= v->end_ns)
				return 0;
			left = (int)((v->end_ns - now) / 1000000u) + 1;
		}
		rc = evspace_next(v->client, left);
		if (rc < 0)
			return -1;
		if (rc == 0)
			return 0;
		if (at_end(v, print_wave(v)))
			return 0;
		/* What was seen is shown at once; a reader that has gone ends us. */
		if (fflush(stdout) == EOF)
			return 0;
		if (v->common.count && evspace_wave(v->client)->number >= v->common.count)
			return 0;
	}
}

static void summary(struct events *v)
{
	struct evspace_counts n;
	char delivered[UNIT_TEXT], lost[UNIT_TEXT], bytes[UNIT_TEXT];

	evspace_counts(v->client, &n);
	fprintf(stderr, "%s tuples delivered (%.0f/s), %s lost (overwritten before they were read)",
		unit_count(delivered, n.delivered),
		n.seconds > 0 ? (double)n.delivered / n.seconds : 0, unit_count(lost, n.lost));
	if (n.filtered || n.reduced)
		fprintf(stderr, ", %llu filtered, %llu reduced", (unsigned long long)n.filtered,
			(unsigned long long)n.reduced);
	if (n.unaccounted)
		fprintf(stderr, ", %llu UNACCOUNTED FOR (please report this)",
			(unsigned long long)n.unaccounted);
	fprintf(stderr, "; %llu waves (%.1f/s) from %u hosts, %s received",
		(unsigned long long)n.waves, n.seconds > 0 ? (double)n.waves / n.seconds : 0,
		n.leaves, unit_bytes(bytes, n.received_bytes));
	if (n.reconnections)
		fprintf(stderr, ", %u reconnections", n.reconnections);
	fputc('\n', stderr);
}

int events_main(int argc, char **argv)
{
	struct events v = {.common.look = {.view = "events", .rate_hz = 10}};
	int code = options_parse(argc, argv, events_help, own, own_take, &v, &v.common);

	if (code >= 0)
		return code;
	v.client = options_open(argv[0], &v.common, &code);
	if (!v.client)
		return code;
	options_catch_signals(v.client);
	if (v.common.duration_ns)
		v.end_ns = clock_mono_ns() + v.common.duration_ns;
	if (v.csv)
		puts("name,number,start_ns,end_ns,op,peer,seq_or_tag,comm,bytes,flags");
	code = EXIT_FINE;
	if (follow(&v) < 0) {
		fprintf(stderr, "evspace events: the connection is lost: %s\n",
			evspace_why(v.client));
		code = EXIT_NO_CONNECTION;
	}
	summary(&v);
	evspace_close(v.client);
	return code;
}
