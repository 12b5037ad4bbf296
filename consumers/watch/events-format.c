/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes events, losses and totals in the three formats; by hand, because there may be millions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/watch/events.h"
#include "consumers/cli/unit.h"
#include "consumers/cli/words.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/plural.h"
#include "pathmap/base/table.h"
#include "tree/data/op.h"

/* The figure that the view asks for. */
static double figure(const struct evspace_total *t)
{
	return strcmp(t->fold, "count") == 0  ? (double)t->count
	       : strcmp(t->fold, "sum") == 0  ? (double)t->sum
	       : strcmp(t->fold, "min") == 0  ? (double)t->min
	       : strcmp(t->fold, "max") == 0  ? (double)t->max
	       : strcmp(t->fold, "mean") == 0 ? t->mean
					      : t->variance;
}

/* ---- text ---- */

/* How an event stands in lines of some width: those of the first that is no wider. */
static const struct layout {
	size_t width;
	int digits; /* of the second that it began in */
	size_t name;
	int bytes; /* their column; 0: they are said where there are any */
} layouts[] = {
	{100, 6, 30, 9},
	{76, 3, 24, 0},
	{0, 1, 17, 0},
};

/* Parts of a name that are told anywhere: of whom, the thread, the element. */
#define NAME_PARTS 3

static const struct layout *layout_of(size_t width)
{
	const struct layout *l = layouts;

	while (width > 0 && width < l->width)
		l++;
	return l;
}

static void text_event(const struct evspace_client *client, const struct evspace_event *ev,
		       size_t width, FILE *out)
{
	const struct words_about about = {ev->op, ev->op_number, ev->peer, ev->seq_or_tag,
					  ev->comm};
	const struct layout *l = layout_of(width);
	char clock[32], took[UNIT_TEXT] = "under way", bytes[UNIT_TEXT] = "", what[WORDS_TEXT] = "";
	char *name = NULL, *line;

	words_clock(clock, sizeof(clock), ev->start_ns, l->digits);
	if (ev->end_ns)
		unit_duration(took, ev->end_ns > ev->start_ns
					    ? (uint64_t)(ev->end_ns - ev->start_ns)
					    : 0);
	if (ev->bytes)
		unit_bytes(bytes, ev->bytes);
	words_add(what, "%s", ev->op);
	words_add_about(what, client, &about);
	if (width > 0)
		name = table_tail(ev->name, l->name, NAME_PARTS);
	line = memory_format("%s  %-*s %9s %*s%s%s%s%s%s%s%s", clock, (int)l->name,
			     name ? name : ev->name, took, l->bytes, l->bytes ? bytes : "",
			     l->bytes ? "  " : " ", what, !l->bytes && *bytes ? ", " : "",
			     l->bytes ? "" : bytes,
			     ev->flags & EVSPACE_COMPLETION ? ", completed" : "",
			     ev->flags & EVSPACE_FAILED ? ", FAILED" : "",
			     ev->flags & EVSPACE_CANCELLED ? ", cancelled" : "");
	table_wrap(out, line, width);
	free(line);
	free(name);
}

static void text_loss(const struct evspace_loss *loss, size_t width, FILE *out)
{
	const struct layout *l = layout_of(width);
	char lost[UNIT_TEXT];
	char *line = memory_format(
		"%-*s  %-*s %s tuple%s %s", 9 + l->digits, "...", (int)l->name, loss->name,
		unit_count(lost, loss->lost), loss->lost == 1 ? " was" : "s were",
		loss->discarded ? "discarded (by their lifetime or evspace discard)"
				: "overwritten before they could be read");

	table_wrap(out, line, width);
	free(line);
}

/* With its unit: a variance has none that anybody knows. */
static const char *figure_text(char buf[UNIT_TEXT], const struct evspace_total *t)
{
	double value = figure(t);

	if (strcmp(t->fold, "variance") == 0 || value < 0)
		snprintf(buf, UNIT_TEXT, "%.6g", value);
	else if (strcmp(t->fold, "count") == 0)
		unit_count(buf, (uint64_t)value);
	else if (strcmp(t->what, "duration") == 0)
		unit_duration(buf, (uint64_t)(value + 0.5));
	else
		unit_bytes(buf, (uint64_t)(value + 0.5));
	return buf;
}

static void text_total(const struct evspace_total *t, size_t width, FILE *out)
{
	char n[UNIT_TEXT], text[UNIT_TEXT], comm[32] = "";
	char *line;

	if (t->comm)
		snprintf(comm, sizeof(comm), " on communicator %08x", t->comm);
	line = memory_format("%-30s %-20s %s of %s %s of %s tuple%s%s", t->name, t->op, t->fold,
			     t->what, figure_text(text, t), unit_count(n, t->count),
			     plural(t->count, "s"), comm);
	table_wrap(out, line, width);
	free(line);
}

/* That is said on stderr. */
static void no_summary(const struct evspace_counts *counts, FILE *out)
{
	(void)counts;
	(void)out;
}

const struct events_format events_text = {"", text_event, text_loss, text_total, no_summary};

/* ---- JSON ---- */

static const char *oracle(unsigned is)
{
	return is ? "true" : "false";
}

static void json_event(const struct evspace_client *client, const struct evspace_event *ev,
		       size_t width, FILE *out)
{
	int channel = op_channel(ev->op_number);
	const char *label = channel == CHANNEL_USER	  ? evspace_label(client, ev->seq_or_tag)
			    : channel >= CHANNEL_PROGRAMS ? evspace_label(client, ev->comm)
							  : NULL;

	(void)width;
	fputs("{\"schema\":1,\"type\":\"tuple\",\"name\":", out);
	words_json(out, ev->name);
	fputs(",\"op\":", out);
	words_json(out, ev->op);
	if (label) {
		fputs(",\"label\":", out);
		words_json(out, label);
	}
	fprintf(out,
		",\"rank\":%" PRId32 ",\"number\":%" PRIu64 ",\"start_ns\":%" PRId64
		",\"end_ns\":%" PRId64 ",\"error_ns\":%.0f,\"peer\":%" PRId32
		",\"seq_or_tag\":%" PRIu32 ",\"comm\":%" PRIu32 ",\"bytes\":%" PRIu64
		",\"running\":%s,\"completion\":%s,\"failed\":%s,\"unattributed\":%s,"
		"\"cancelled\":%s}\n",
		ev->rank, ev->number, ev->start_ns, ev->end_ns, ev->error_ns, ev->peer,
		ev->seq_or_tag, ev->comm, ev->bytes, oracle(ev->flags & EVSPACE_RUNNING),
		oracle(ev->flags & EVSPACE_COMPLETION), oracle(ev->flags & EVSPACE_FAILED),
		oracle(ev->flags & EVSPACE_UNATTRIBUTED), oracle(ev->flags & EVSPACE_CANCELLED));
}

static void json_loss(const struct evspace_loss *loss, size_t width, FILE *out)
{
	(void)width;
	fprintf(out,
		"{\"schema\":1,\"type\":\"%s\",\"name\":", loss->discarded ? "discard" : "loss");
	words_json(out, loss->name);
	fprintf(out, ",\"rank\":%" PRId32 ",\"first\":%" PRIu64 ",\"%s\":%" PRIu64 "}\n",
		loss->rank, loss->first, loss->discarded ? "discarded" : "lost", loss->lost);
}

static void json_total(const struct evspace_total *t, size_t width, FILE *out)
{
	(void)width;
	fputs("{\"schema\":1,\"type\":\"total\",\"name\":", out);
	words_json(out, t->name);
	fputs(",\"op\":", out);
	words_json(out, t->op);
	fprintf(out,
		",\"comm\":%" PRIu32
		",\"what\":\"%s\",\"fold\":\"%s\",\"value\":%.17g,\"count\":%" PRIu64
		",\"sum\":%" PRIu64 ",\"min\":%" PRIu64 ",\"max\":%" PRIu64
		",\"mean\":%.17g,\"variance\":%.17g}\n",
		t->comm, t->what, t->fold, figure(t), t->count, t->sum, t->min, t->max, t->mean,
		t->variance);
}

static void json_summary(const struct evspace_counts *n, FILE *out)
{
	fprintf(out,
		"{\"schema\":1,\"type\":\"summary\",\"seconds\":%.3f,\"waves\":%" PRIu64
		",\"again\":%" PRIu64 ",\"delivered\":%" PRIu64 ",\"lost\":%" PRIu64
		",\"discarded\":%" PRIu64 ",\"filtered\":%" PRIu64 ",\"reduced\":%" PRIu64
		",\"unaccounted\":%" PRIu64 ",\"received_bytes\":%" PRIu64
		",\"unpacked_bytes\":%" PRIu64 ",\"reconnections\":%u,\"unreadable\":%u}\n",
		n->seconds, n->waves, n->again, n->delivered, n->lost, n->discarded, n->filtered,
		n->reduced, n->unaccounted, n->received_bytes, n->unpacked_bytes, n->reconnections,
		n->unreadable);
}

const struct events_format events_json = {"", json_event, json_loss, json_total, json_summary};

/* ---- CSV ---- */

static void csv_event(const struct evspace_client *client, const struct evspace_event *ev,
		      size_t width, FILE *out)
{
	(void)client;
	(void)width;
	words_csv(out, ev->name);
	fprintf(out, ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",", ev->number, ev->start_ns, ev->end_ns);
	words_csv(out, ev->op);
	fprintf(out, ",%" PRId32 ",%" PRIu32 ",%08" PRIx32 ",%" PRIu64 ",%u\n", ev->peer,
		ev->seq_or_tag, ev->comm, ev->bytes, ev->flags);
}

/* A table has no room for what is not there: the gap in the numbers shows it. */
static void csv_loss(const struct evspace_loss *loss, size_t width, FILE *out)
{
	(void)loss;
	(void)width;
	(void)out;
}

static void csv_total(const struct evspace_total *t, size_t width, FILE *out)
{
	(void)width;
	words_csv(out, t->name);
	putc(',', out);
	words_csv(out, t->op);
	fprintf(out, ",%08" PRIx32 ",%s,%s,%.17g,%" PRIu64 "\n", t->comm, t->what, t->fold,
		figure(t), t->count);
}

const struct events_format events_csv = {
	"name,number,start_ns,end_ns,op,peer,seq_or_tag,comm,bytes,flags\n", csv_event, csv_loss,
	csv_total, no_summary};
