/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and prints batches as text, for tests. */
#include "tests/wave.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tree/data/op.h"

struct reader {
	struct names *names;
	struct batch *b;
	uint32_t leaf;
	uint32_t n_names;
};

/* What stands behind "KEY=" in @line, or "" when there is none. */
static const char *find(const char *line, const char *key)
{
	char wanted[32];
	const char *at;

	snprintf(wanted, sizeof(wanted), " %s=", key);
	at = strstr(line, wanted);
	return at ? at + strlen(wanted) : "";
}

static uint64_t number(const char *line, const char *key)
{
	return strtoull(find(line, key), NULL, strcmp(key, "comm") == 0 ? 16 : 10);
}

static int has(const char *line, const char *word)
{
	for (const char *at = line; (at = strstr(at, word)); at++)
		if (at > line && at[-1] == ' ' && strchr(" ", at[strlen(word)]))
			return 1;
	return 0;
}

/* ---- reading ---- */

static uint32_t name_of(struct reader *r, const char *text)
{
	static const enum level levels[] = {LEVEL_ALL, LEVEL_CLUSTER, LEVEL_NODE,
					    0,	       LEVEL_THREAD,  LEVEL_ELEMENT};
	const char *rank = strstr(text, "/rank"), *last = strrchr(text, '/');
	unsigned parts = 0;
	uint32_t id;

	if (strncmp(text, "/?", 2) == 0)
		return (uint32_t)strtoul(text + 2, NULL, 16);
	for (size_t i = 0; i < names_count(r->names); i++)
		if (strcmp(names_at(r->names, i)->text, text) == 0)
			return names_at(r->names, i)->id;
	for (const char *p = text; *p && text[1]; p++)
		parts += *p == '/';
	id = name_id(r->leaf, ++r->n_names);
	if (parts <= 5)
		names_learn(r->names, id, levels[parts], rank ? atoi(rank + 5) : -1,
			    parts == 5 ? (uint16_t)channel_find(last + 1) : 0, text);
	return id;
}

static void read_part(struct reader *r, const char *line)
{
	struct part part = {.clock = CLOCK_LINE_NS};
	const char *clock = strstr(line, " clock=");
	unsigned place = 0;
	uint64_t wave = 0;

	sscanf(line, "%*s %u %" SCNu64, &place, &wave);
	if (clock)
		sscanf(clock, " clock=%" SCNd64 ",%" SCNu64 ",%lf,%lf", &part.clock.base_ns,
		       &part.clock.base_ticks, &part.clock.ns_per_tick, &part.clock.error_ns);
	part.read = number(line, "read");
	part.lost = number(line, "lost");
	part.filtered = number(line, "filtered");
	part.reduced = number(line, "reduced");
	part.elements = (uint32_t)number(line, "elements");
	part.cpu_us = (uint32_t)number(line, "cpu");
	memcpy(batch_add(r->b, RUN_PART, place, wave, 1, 0), &part, sizeof(part));
	if (line[0] == 'm')
		r->b->last->flags |= RUN_FOLD;
	r->leaf = place;
}

static struct tuple tuple_of(const char *line)
{
	struct tuple t = {.peer = TUPLE_NO_PEER};
	char op[64] = "";

	sscanf(line, "%63s %" SCNu64 " %" SCNu64, op, &t.start, &t.end);
	t.op = op_find(op);
	t.bytes = number(line, "bytes");
	if (*find(line, "peer"))
		t.peer = atoi(find(line, "peer"));
	t.seq_or_tag = (uint32_t)number(line, "tag");
	t.comm = (uint32_t)number(line, "comm");
	t.flags = (uint16_t)((has(line, "running") ? TUPLE_RUNNING : 0) |
			     (has(line, "completion") ? TUPLE_COMPLETION : 0));
	return t;
}

static struct total total_of(const char *line)
{
	struct total t = {0};
	char op[64] = "";

	t.count = number(line, "count");
	t.sum = number(line, "sum");
	t.mean = strtod(find(line, "mean"), NULL);
	t.m2 = strtod(find(line, "m2"), NULL);
	t.min = number(line, "min");
	t.max = number(line, "max");
	t.comm = (uint32_t)number(line, "comm");
	sscanf(find(line, "op"), "%63s", op);
	t.op = op_find(op);
	t.value = strstr(line, " of bytes") ? TOTAL_BYTES : TOTAL_DURATION;
	for (unsigned i = 0; i < FOLD_COUNT_OF_KINDS; i++)
		if (has(line, total_fold_name(i)))
			t.fold = (uint8_t)i;
	return t;
}

/* Give the run that is open one record more: it is the last, so that it can grow. */
static void add_record(struct reader *r, const void *record, size_t bytes)
{
	struct run *run = r->b->last;
	uint64_t lost = 0, first = run->first;
	uint32_t element = run->element, count = run->count;
	uint8_t flags = run->flags, kind = run->kind;
	unsigned char *old = malloc(count * bytes + 1), *out;
	struct batch_cursor c = {0};
	struct run_view view;

	while (batch_next(r->b, &c, &view) && view.run != run)
		;
	lost = view.lost;
	memcpy(old, view.records, count * bytes);
	batch_settle(r->b, first, 0, 0);
	out = batch_add(r->b, kind, element, first, count + 1, lost);
	memcpy(out, old, count * bytes);
	memcpy(out + count * bytes, record, bytes);
	r->b->last->flags |= flags;
	free(old);
}

static int read_line(struct reader *r, const char *line)
{
	struct tuple tuple;
	struct total total;
	char word[64] = "", name[NAME_BYTES] = "";
	uint64_t first = 0, lost = 0;

	sscanf(line, "%63s %255s %" SCNu64, word, name, &first);
	if (strcmp(word, "part") == 0 || strcmp(word, "mark") == 0) {
		read_part(r, line);
	} else if (strcmp(word, "run") == 0) {
		lost = number(line, "lost");
		batch_add(r->b, RUN_TUPLES, name_of(r, name), first, 0, lost);
		r->b->last->flags |= has(line, "sparse") ? RUN_SPARSE : 0;
	} else if (strcmp(word, "totals") == 0) {
		batch_add(r->b, RUN_TOTALS, name_of(r, name), 0, 0, 0);
	} else if (strcmp(word, "total") == 0 && r->b->last) {
		total = total_of(line);
		add_record(r, &total, sizeof(total));
	} else if (op_find(word) && r->b->last) {
		tuple = tuple_of(line);
		add_record(r, &tuple, sizeof(tuple));
	} else {
		tap_note("not understood: %s", line);
		return -1;
	}
	return 0;
}

int wave_read(const char *text, struct names *names, struct batch *b)
{
	struct reader r = {.names = names, .b = b};
	char *copy = strdup(text), *rest, *line;
	int result = 0;

	for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " \t");
		if (*line && *line != '#' && read_line(&r, line) < 0)
			result = -1;
	}
	free(copy);
	return result;
}

/* ---- printing ---- */

static void put(FILE *out, const char *key, uint64_t value)
{
	if (value)
		fprintf(out, " %s=%" PRIu64, key, value);
}

static void print_part(const struct run_view *view, FILE *out)
{
	const struct part *p = view->part;

	fprintf(out, "%s %u %" PRIu64, view->run->flags & RUN_FOLD ? "mark" : "part",
		view->run->element, view->run->first);
	if (!clock_line_same(&p->clock, &CLOCK_LINE_NS) || p->clock.error_ns > 0)
		fprintf(out, " clock=%" PRId64 ",%" PRIu64 ",%g,%g", p->clock.base_ns,
			p->clock.base_ticks, p->clock.ns_per_tick, p->clock.error_ns);
	put(out, "read", p->read);
	put(out, "lost", p->lost);
	put(out, "filtered", p->filtered);
	put(out, "reduced", p->reduced);
	put(out, "elements", p->elements);
	put(out, "cpu", p->cpu_us);
	fputc('\n', out);
}

static void print_tuple(const struct tuple *t, FILE *out)
{
	fprintf(out, "%s %" PRIu64 " %" PRIu64, op_name(t->op), t->start, t->end);
	put(out, "bytes", t->bytes);
	if (t->peer != TUPLE_NO_PEER)
		fprintf(out, " peer=%d", t->peer);
	put(out, "tag", t->seq_or_tag);
	if (t->comm)
		fprintf(out, " comm=%x", t->comm);
	fprintf(out, "%s%s\n", t->flags & TUPLE_RUNNING ? " running" : "",
		t->flags & TUPLE_COMPLETION ? " completion" : "");
}

static void print_total(const struct total *t, FILE *out)
{
	fprintf(out, "total");
	put(out, "count", t->count);
	put(out, "sum", t->sum);
	fprintf(out, " mean=%g m2=%g", t->mean, t->m2);
	put(out, "min", t->min);
	put(out, "max", t->max);
	if (t->op)
		fprintf(out, " op=%s", op_name(t->op));
	if (t->comm)
		fprintf(out, " comm=%x", t->comm);
	fprintf(out, " %s of %s\n", total_fold_name(t->fold), total_value_name(t->value));
}

static void print_run(const struct run_view *view, const struct names *names, FILE *out)
{
	const struct name *name = names_find(names, view->run->element);

	fprintf(out, "%s ", view->run->kind == RUN_TUPLES ? "run" : "totals");
	if (name)
		fputs(name->text, out);
	else
		fprintf(out, "/?%x", view->run->element);
	if (view->run->kind == RUN_TUPLES)
		fprintf(out, " %" PRIu64, view->run->first);
	put(out, "lost", view->lost);
	fputs(view->run->flags & RUN_SPARSE ? " sparse\n" : "\n", out);
	for (unsigned i = 0; i < view->run->count; i++)
		if (view->run->kind == RUN_TUPLES)
			print_tuple(&view->tuples[i], out);
		else
			print_total(&view->totals[i], out);
}

/* Print @b as wave_read() would read it. */
static void wave_print(const struct batch *b, const struct names *names, FILE *out)
{
	struct batch_cursor c = {0};
	struct run_view view;

	while (batch_next(b, &c, &view))
		if (view.run->kind == RUN_PART)
			print_part(&view, out);
		else
			print_run(&view, names, out);
}

char *wave_text(const struct batch *b, const struct names *names)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	wave_print(b, names, out);
	fclose(out);
	return text;
}
