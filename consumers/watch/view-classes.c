/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of a view's answer: their growth per second since the last wave. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "consumers/cli/json.h"
#include "pathmap/base/quantity.h"
#include "consumers/watch/view.h"
#include "consumers/cli/words.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/table.h"

/* The counts of a class. */
struct view_classes_counted {
	uint64_t calls, bytes, time_ns, skipped;
};

struct view_classes_entry {
	UT_hash_handle hh;
	char *name, *channel; /* in the key */
	uint32_t comm;
	bool here;  /* in this wave */
	bool known; /* in the last one, too, and not less since: there is a rate */
	struct view_classes_counted now, before;
	double seconds; /* between the two */
	int64_t taken_ns;
	uint64_t from; /* the hosts that it was summed up from */
	size_t key_bytes;
	char key[]; /* the two texts, each with its final 0, then the communicator */
};

static struct view_classes_entry *entries;

static struct view_classes_entry *entry_at(const struct evspace_class *c)
{
	char key[1024];
	int bytes =
		snprintf(key, sizeof(key), "%s%c%s%c%08x", c->name, 0, c->channel, 0, c->comm) + 1;
	struct view_classes_entry *e;

	if ((size_t)bytes > sizeof(key))
		bytes = sizeof(key);
	HASH_FIND(hh, entries, key, (size_t)bytes, e);
	if (e)
		return e;
	e = memory_new(1, sizeof(*e) + (size_t)bytes);
	e->key_bytes = (size_t)bytes;
	memcpy(e->key, key, e->key_bytes);
	e->name = e->key;
	e->channel = e->name + strlen(e->name) + 1;
	e->comm = c->comm;
	HASH_ADD_KEYPTR(hh, entries, e->key, e->key_bytes, e);
	return e;
}

/* A difference between sums over different hosts means nothing. */
static uint64_t answering(const struct evspace_wave *w)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < w->n_missing; i++)
		for (const char *p = w->missing[i].leaf; *p; p++)
			hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	return hash;
}

/* A wave begins: the present counts become the previous ones. */
static void classes_turn(const struct evspace_wave *w, uint64_t from)
{
	for (struct view_classes_entry *e = entries; e; e = e->hh.next) {
		e->known = e->here && e->from == from && w->taken_ns > e->taken_ns;
		e->here = false;
		e->before = e->now;
		e->now = (struct view_classes_counted){0};
		e->seconds = (double)(w->taken_ns - e->taken_ns) * 1e-9;
		e->taken_ns = w->taken_ns;
		e->from = from;
	}
}

static size_t classes_take(const struct viewer *v)
{
	const struct evspace_wave *w = evspace_wave(v->follow.client);
	uint64_t from = answering(w);
	struct evspace_class c;
	size_t n = 0;

	classes_turn(w, from);
	for (; evspace_class(v->follow.client, &c); n++) {
		struct view_classes_entry *e = entry_at(&c);

		e->here = true;
		e->from = from;
		e->taken_ns = w->taken_ns;
		e->now.calls += c.calls;
		e->now.bytes += c.bytes;
		e->now.time_ns += c.time_ns;
		e->now.skipped += c.skipped;
	}
	/* a process whose elements were removed takes its counts with it */
	for (struct view_classes_entry *e = entries; e; e = e->hh.next) {
		if (e->now.calls < e->before.calls || e->now.bytes < e->before.bytes)
			e->known = false;
		/* a clock is known better and better */
		if (e->now.time_ns < e->before.time_ns)
			e->now.time_ns = e->before.time_ns;
	}
	return n;
}

static double rate(const struct view_classes_entry *e, uint64_t now, uint64_t before)
{
	return e->known ? (double)(now - before) / e->seconds : 0;
}

static double calls_rate(const struct view_classes_entry *e)
{
	return rate(e, e->now.calls, e->before.calls);
}

/* By name, then the busiest, then by counts. */
static int compare(const void *a, const void *b)
{
	const struct view_classes_entry *x = *(const struct view_classes_entry *const *)a;
	const struct view_classes_entry *y = *(const struct view_classes_entry *const *)b;
	int order = strverscmp(x->name, y->name);

	if (order)
		return order;
	if (calls_rate(x) != calls_rate(y))
		return calls_rate(x) < calls_rate(y) ? 1 : -1;
	return (x->now.calls < y->now.calls) - (x->now.calls > y->now.calls);
}

static int compare_busy(const void *a, const void *b)
{
	const struct view_classes_entry *x = *(const struct view_classes_entry *const *)a;
	const struct view_classes_entry *y = *(const struct view_classes_entry *const *)b;

	if (calls_rate(x) != calls_rate(y))
		return calls_rate(x) < calls_rate(y) ? 1 : -1;
	return compare(a, b);
}

static size_t classes_list(struct view_classes_entry ***list,
			   int (*order)(const void *, const void *))
{
	size_t n = 0;

	*list = memory_new(HASH_COUNT(entries) + 1, sizeof(**list));
	for (struct view_classes_entry *e = entries; e; e = e->hh.next)
		if (e->here)
			(*list)[n++] = e;
	qsort(*list, n, sizeof(**list), order);
	return n;
}

/* ---- text ---- */

/* what it is of, and the rates, are always shown */
static const struct table_column class_columns[] = {
	{.pad = -28, .least = 10, .parts = 2},
	{.pad = -20, .gap = 1, .least = 12},
	{.pad = 12, .gap = 1},
	{.pad = 12, .gap = 1},
	{.pad = 8, .gap = 1, .drop = 3},
	{.pad = 15, .gap = 1, .drop = 2},
	{.pad = 12, .gap = 1, .drop = 1},
};

static void class_add(const struct viewer *v, const struct view_classes_entry *e, struct table *t)
{
	char class[96], text[UNIT_TEXT] = "-";

	words_class(class, sizeof(class), v->follow.client, *e->channel ? e->channel : "all",
		    e->comm);
	table_cell(t, "%s", e->name);
	table_cell(t, "%s", class);
	if (e->known)
		unit_count(text, (uint64_t)(calls_rate(e) + 0.5));
	table_cell(t, "%s", text);
	if (e->known)
		unit_bytes(text, (uint64_t)(rate(e, e->now.bytes, e->before.bytes) + 0.5));
	table_cell(t, "%s", text);
	/* The time of a call counts when it ends, and may span many waves: a share of time would
	 * mean nothing. */
	if (e->known && e->now.calls > e->before.calls && e->now.time_ns)
		unit_duration(text, (e->now.time_ns - e->before.time_ns) /
					    (e->now.calls - e->before.calls));
	else
		snprintf(text, sizeof(text), "-");
	table_cell(t, "%s", text);
	table_cell(t, "%s", unit_count(text, e->now.calls));
	table_cell(t, "%s", unit_bytes(text, e->now.bytes));
}

static void classes_text(const struct viewer *v, FILE *out)
{
	static const char *const heads[] = {"RATES OF", "CLASS", "CALLS/s", "BYTES/s",
					    "A CALL",	"CALLS", "BYTES"};
	struct view_classes_entry **list;
	struct table t;
	size_t n;

	if (!entries)
		return;
	n = classes_list(&list, compare);
	/* of more than are shown, the busiest */
	if (v->top && n > v->top)
		qsort(list, n, sizeof(*list), compare_busy);
	table_heads(&t, class_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; viewer_shows(v, i, n); i++)
		class_add(v, list[i], &t);
	table_print(&t, out);
	table_fini(&t);
	viewer_more(v, n, out);
	free(list);
}

/* ---- JSON ---- */

static json_t *rate_json(const struct view_classes_entry *e, uint64_t now, uint64_t before)
{
	return e->known ? json_figure(rate(e, now, before)) : json_null();
}

static json_t *class_json(const struct viewer *v, const struct view_classes_entry *e)
{
	const char *label = e->comm ? evspace_label(v->follow.client, e->comm) : NULL;
	json_t *o =
		json_pack("{s:s,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o}", "type", "rate", "name",
			  json_text(e->name), "channel", json_text(e->channel), "comm",
			  json_comm(e->comm), "label", json_text(label), "world",
			  e->comm && evspace_is_world(v->follow.client, e->comm), "calls",
			  json_count(e->now.calls), "bytes", json_count(e->now.bytes), "time_ns",
			  json_count(e->now.time_ns), "not_recorded", json_count(e->now.skipped));

	json_object_update_new(o,
			       json_pack("{s:o,s:o,s:o}", "calls_per_s",
					 rate_json(e, e->now.calls, e->before.calls), "bytes_per_s",
					 rate_json(e, e->now.bytes, e->before.bytes), "ns_per_s",
					 rate_json(e, e->now.time_ns, e->before.time_ns)));
	return o;
}

static void classes_json(const struct viewer *v, FILE *out)
{
	struct view_classes_entry **list;
	size_t n = classes_list(&list, compare);

	for (size_t i = 0; i < n; i++)
		json_print(class_json(v, list[i]), out);
	free(list);
}

static void classes_fini(void)
{
	struct view_classes_entry *e, *next;

	HASH_ITER(hh, entries, e, next)
	{
		HASH_DEL(entries, e);
		free(e);
	}
}

const struct figure figure_classes = {classes_take, false, classes_text, classes_json,
				      classes_fini};
