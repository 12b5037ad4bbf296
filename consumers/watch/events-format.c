/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes events, losses and totals in the three formats. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/watch/events.h"
#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/op.h"
#include "tree/data/tuple.h"

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

/* The layout of an event in lines of some width: the first one that is no wider. */
static const struct layout {
	size_t width;
	int digits; /* decimals of its start */
	size_t name;
	int bytes; /* width of their column; 0: in the text, if there are any */
} layouts[] = {
	{100, 6, 30, 9},
	{76, 3, 24, 0},
	{0, 1, 17, 0},
};

/* Most parts of a name that are shown: host, thread, element. */
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
	struct evspace_collective collective;
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
	if (evspace_collective(client, ev, &collective))
		words_add_collective(what, &collective);
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

/* With its unit; a variance has no usual one. */
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

/* The region or phase that it is of, or NULL. */
static const char *label_of(const struct evspace_client *client, const struct evspace_total *t)
{
	return op_is_labelled(op_find(t->op)) ? evspace_label(client, t->comm) : NULL;
}

static void text_total(const struct evspace_client *client, const struct evspace_total *t,
		       size_t width, FILE *out)
{
	char n[UNIT_TEXT], text[UNIT_TEXT], comm[128] = "";
	const char *label = label_of(client, t);
	char *line;

	if (label)
		snprintf(comm, sizeof(comm), " in %s", label);
	else if (t->comm)
		snprintf(comm, sizeof(comm), " on communicator %08x", t->comm);
	line = memory_format("%-30s %-20s %s of %s %s of %s tuple%s%s", t->name, t->op, t->fold,
			     t->what, figure_text(text, t), unit_count(n, t->count),
			     plural(t->count, "s"), comm);
	table_wrap(out, line, width);
	free(line);
}

/* text has it on stderr */
static void no_summary(const struct evspace_counts *counts, uint64_t sampled, FILE *out)
{
	(void)sampled;
	(void)counts;
	(void)out;
}

const struct events_format events_text = {"",	      text_event,	 text_loss, text_total,
					  typed_text, figure_text_write, no_summary};

/* ---- JSON ---- */

/* Tuples, of which there may be millions, are written by hand, all else by jansson, which takes 5
 * to 6 us a tuple, while this takes 0.9 us (100,000 of them, 2026-11-23). */

static const char *truth(unsigned is)
{
	return is ? "true" : "false";
}

static void text_json(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ') {
			fprintf(out, "\\u%04x", c);
			continue;
		}
		if (c == '"' || c == '\\')
			putc_unlocked('\\', out);
		putc_unlocked(c, out);
	}
	putc_unlocked('"', out);
}

static void null_json(FILE *out, const char *key, int64_t value, bool known)
{
	if (known)
		fprintf(out, ",\"%s\":%" PRId64, key, value);
	else
		fprintf(out, ",\"%s\":null", key);
}

static void json_name(FILE *out, const char *key, const char *name)
{
	if (name)
		fprintf(out, ",\"%s\":\"%s\"", key, name);
	else
		fprintf(out, ",\"%s\":null", key);
}

/* What a collective's call says beside; null of others. */
static void json_collective(const struct evspace_client *client, const struct evspace_event *ev,
			    FILE *out)
{
	struct evspace_collective c = {.root = -1};

	(void)evspace_collective(client, ev, &c);
	null_json(out, "root", c.root, c.root >= 0);
	json_name(out, "reduction", c.reduction);
	json_name(out, "datatype", c.type);
	null_json(out, "datatype_bytes", c.type_bytes, c.type_bytes > 0);
	null_json(out, "comm_size", c.size, c.size > 0);
}

static void json_event(const struct evspace_client *client, const struct evspace_event *ev,
		       size_t width, FILE *out)
{
	int channel = op_channel(ev->op_number);
	const char *label = channel == CHANNEL_USER	  ? evspace_label(client, ev->seq_or_tag)
			    : channel >= CHANNEL_PROGRAMS ? evspace_label(client, ev->comm)
							  : NULL;
	char comm[16] = "null";

	(void)width;
	if (ev->comm)
		snprintf(comm, sizeof(comm), "\"%08" PRIx32 "\"", ev->comm);
	fputs("{\"schema\":1,\"type\":\"tuple\",\"name\":", out);
	text_json(out, ev->name);
	fputs(",\"op\":", out);
	text_json(out, ev->op);
	fputs(",\"label\":", out);
	if (label)
		text_json(out, label);
	else
		fputs("null", out);
	null_json(out, "rank", ev->rank, ev->rank >= 0);
	null_json(out, "number", (int64_t)ev->number, ev->number != UINT64_MAX);
	fprintf(out, ",\"start_ns\":%" PRId64, ev->start_ns);
	null_json(out, "end_ns", ev->end_ns, ev->end_ns != 0);
	fprintf(out, ",\"error_ns\":%.0f", ev->error_ns);
	null_json(out, "peer", ev->peer, ev->peer != TUPLE_NO_PEER && ev->peer != TUPLE_ANY_PEER);
	fprintf(out,
		",\"seq_or_tag\":%" PRIu32 ",\"comm\":%s,\"bytes\":%" PRIu64
		",\"running\":%s,\"completion\":%s,\"failed\":%s,\"unattributed\":%s,"
		"\"cancelled\":%s",
		ev->seq_or_tag, comm, ev->bytes, truth(ev->flags & EVSPACE_RUNNING),
		truth(ev->flags & EVSPACE_COMPLETION), truth(ev->flags & EVSPACE_FAILED),
		truth(ev->flags & EVSPACE_UNATTRIBUTED), truth(ev->flags & EVSPACE_CANCELLED));
	json_collective(client, ev, out);
	fputs("}\n", out);
}

static void json_loss(const struct evspace_loss *loss, size_t width, FILE *out)
{
	(void)width;
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o}", "type", loss->discarded ? "discard" : "loss",
			     "name", json_text(loss->name), "rank", json_process(loss->rank),
			     "first", json_count(loss->first),
			     loss->discarded ? "discarded" : "lost", json_count(loss->lost)),
		   out);
}

static void json_total(const struct evspace_client *client, const struct evspace_total *t,
		       size_t width, FILE *out)
{
	const char *label = label_of(client, t);
	json_t *o;

	(void)width;
	o = json_pack("{s:s,s:o,s:o,s:o,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "total",
		      "name", json_text(t->name), "op", json_text(t->op), "comm",
		      json_comm(label ? 0 : t->comm), "what", t->what, "fold", t->fold, "value",
		      json_figure(figure(t)), "count", json_count(t->count), "sum",
		      json_count(t->sum), "min", json_count(t->min), "max", json_count(t->max),
		      "mean", json_figure(t->mean), "variance", json_figure(t->variance));
	if (label)
		json_object_set_new(o, "label", json_text(label));
	json_print(o, out);
}

static void json_summary(const struct evspace_counts *n, uint64_t sampled, FILE *out)
{
	json_t *o =
		json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "summary", "seconds",
			  json_figure(n->seconds), "waves", json_count(n->waves), "again",
			  json_count(n->again), "delivered", json_count(n->delivered), "lost",
			  json_count(n->lost), "discarded", json_count(n->discarded), "filtered",
			  json_count(n->filtered - sampled), "reduced", json_count(n->reduced));

	json_object_update_new(o, json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "sampled_out",
					    json_count(sampled), "unaccounted",
					    json_count(n->unaccounted), "received_bytes",
					    json_count(n->received_bytes), "unpacked_bytes",
					    json_count(n->unpacked_bytes), "reconnections",
					    json_count(n->reconnections), "unreadable",
					    json_count(n->unreadable)));
	json_print(o, out);
}

const struct events_format events_json = {"",	      json_event,	 json_loss,   json_total,
					  typed_json, figure_json_write, json_summary};

/* ---- CSV ---- */

static void csv_event(const struct evspace_client *client, const struct evspace_event *ev,
		      size_t width, FILE *out)
{
	(void)client;
	(void)width;
	words_csv(out, ev->name);
	putc(',', out);
	if (ev->number != UINT64_MAX)
		fprintf(out, "%" PRIu64, ev->number);
	fprintf(out, ",%" PRId64 ",%" PRId64 ",", ev->start_ns, ev->end_ns);
	words_csv(out, ev->op);
	fprintf(out, ",%" PRId32 ",%" PRIu32 ",%08" PRIx32 ",%" PRIu64 ",%u\n", ev->peer,
		ev->seq_or_tag, ev->comm, ev->bytes, ev->flags);
}

/* CSV has no row for a loss: the gap in the numbers shows it. */
static void csv_loss(const struct evspace_loss *loss, size_t width, FILE *out)
{
	(void)loss;
	(void)width;
	(void)out;
}

static void csv_total(const struct evspace_client *client, const struct evspace_total *t,
		      size_t width, FILE *out)
{
	(void)client;
	(void)width;
	words_csv(out, t->name);
	putc(',', out);
	words_csv(out, t->op);
	fprintf(out, ",%08" PRIx32 ",%s,%s,%.17g,%" PRIu64 "\n", t->comm, t->what, t->fold,
		figure(t), t->count);
}

const struct events_format events_csv = {
	"name,number,start_ns,end_ns,op,peer,seq_or_tag,comm,bytes,flags\n",
	csv_event,
	csv_loss,
	csv_total,
	typed_none,
	figure_csv_write,
	no_summary};
