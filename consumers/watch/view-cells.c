/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of a view's answer: drawn as squares if they fit, else a table of the largest
 * cells. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "consumers/cli/json.h"
#include "pathmap/base/quantity.h"
#include "consumers/watch/view.h"
#include "consumers/cli/words.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/table.h"
#include "tree/data/process.h"

/* A matrix of up to this many senders and receivers is drawn. */
#define DRAWN_MOST    16u
#define DRAWN_COLUMNS 200u

struct view_cells_entry {
	UT_hash_handle hh;
	char *name, *from, *to; /* in the key */
	uint64_t calls, bytes;
	size_t key_bytes;
	char key[]; /* the three texts, each with its final 0 */
};

static struct view_cells_entry *entries;

static const char *end_text(char buf[PROCESS_NAME], const char *text, int32_t rank)
{
	if (text)
		return text;
	if (rank >= 0)
		return process_name(buf, rank);
	snprintf(buf, PROCESS_NAME, "other%d", -16 - rank);
	return buf;
}

static struct view_cells_entry *entry_at(const char *name, const char *from, const char *to)
{
	char key[3 * 512];
	int bytes = snprintf(key, sizeof(key), "%s%c%s%c%s", name, 0, from, 0, to) + 1;
	struct view_cells_entry *e;

	if ((size_t)bytes > sizeof(key))
		bytes = sizeof(key);
	HASH_FIND(hh, entries, key, (size_t)bytes, e);
	if (e)
		return e;
	e = memory_new(1, sizeof(*e) + (size_t)bytes);
	e->key_bytes = (size_t)bytes;
	memcpy(e->key, key, e->key_bytes);
	e->name = e->key;
	e->from = e->name + strlen(e->name) + 1;
	e->to = e->from + strlen(e->from) + 1;
	HASH_ADD_KEYPTR(hh, entries, e->key, e->key_bytes, e);
	return e;
}

static void cells_forget(void)
{
	struct view_cells_entry *e, *next;

	HASH_ITER(hh, entries, e, next)
	{
		HASH_DEL(entries, e);
		free(e);
	}
}

static size_t cells_take(const struct viewer *v)
{
	struct evspace_cell cell;
	size_t n = 0;

	if (v->fresh)
		cells_forget();
	for (; evspace_cell(v->follow.client, &cell); n++) {
		char from[PROCESS_NAME], to[PROCESS_NAME];
		struct view_cells_entry *e =
			entry_at(cell.name, end_text(from, cell.from, cell.from_rank),
				 end_text(to, cell.to, cell.to_rank));

		e->calls += cell.calls;
		e->bytes += cell.bytes;
	}
	return n;
}

/* By name, with numbers in their natural order. */
static int compare_names(const void *a, const void *b)
{
	const struct view_cells_entry *x = *(const struct view_cells_entry *const *)a;
	const struct view_cells_entry *y = *(const struct view_cells_entry *const *)b;
	int order = strcmp(x->name, y->name);

	if (order == 0)
		order = strverscmp(x->from, y->from);
	return order ? order : strverscmp(x->to, y->to);
}

static int compare_bytes(const void *a, const void *b)
{
	const struct view_cells_entry *x = *(const struct view_cells_entry *const *)a;
	const struct view_cells_entry *y = *(const struct view_cells_entry *const *)b;
	int order = strcmp(x->name, y->name);

	if (order == 0 && x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return order ? order : compare_names(a, b);
}

static size_t cells_list(struct view_cells_entry ***list,
			 int (*compare)(const void *, const void *))
{
	size_t n = 0;
	struct view_cells_entry *e;

	*list = memory_new(HASH_COUNT(entries) + 1, sizeof(**list));
	for (e = entries; e; e = e->hh.next)
		(*list)[n++] = e;
	qsort(*list, n, sizeof(**list), compare);
	return n;
}

/* ---- text ---- */

/* sender, receiver and bytes are always shown */
static const struct table_column cell_columns[] = {
	{.pad = -12, .drop = 1},
	{.pad = -24, .gap = 1, .least = 10, .parts = 1},
	{.pad = -24, .gap = 1, .least = 10, .parts = 1},
	{.pad = 14, .gap = 1, .drop = 2},
	{.pad = 12, .gap = 1},
};

static void list_text(const struct viewer *v, FILE *out)
{
	static const char *const heads[] = {"MATRIX", "FROM", "TO", "MESSAGES", "BYTES"};
	struct view_cells_entry **list;
	size_t n = cells_list(&list, compare_bytes);
	struct table t;

	table_heads(&t, cell_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; viewer_shows(v, i, n); i++) {
		char text[UNIT_TEXT];

		table_cell(&t, "%s", list[i]->name);
		table_cell(&t, "%s", list[i]->from);
		table_cell(&t, "%s", list[i]->to);
		table_cell(&t, "%s", unit_count(text, list[i]->calls));
		table_cell(&t, "%s", unit_bytes(text, list[i]->bytes));
	}
	table_print(&t, out);
	table_fini(&t);
	viewer_more(v, n, out);
	free(list);
}

static int compare_texts(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* The ends of all cells, each once; 0: too many to be drawn, or of several matrices. */
static size_t ends_list(struct view_cells_entry **list, size_t n,
			const char *ends[2 * DRAWN_MOST + 2])
{
	size_t n_ends = 0;

	for (size_t i = 0; i < n; i++) {
		const char *both[] = {list[i]->from, list[i]->to};

		if (strcmp(list[i]->name, list[0]->name) != 0)
			return 0;
		for (size_t k = 0; k < 2; k++) {
			size_t at = 0;

			while (at < n_ends && strcmp(ends[at], both[k]) != 0)
				at++;
			ends[at] = both[k];
			n_ends += at == n_ends;
		}
		if (n_ends > DRAWN_MOST)
			return 0;
	}
	qsort(ends, n_ends, sizeof(*ends), compare_texts);
	return n_ends;
}

/* The width of columns for all of these. */
static int ends_width(const char *const *ends, size_t n)
{
	size_t widest = 10;

	for (size_t i = 0; i < n; i++)
		widest = strlen(ends[i]) > widest ? strlen(ends[i]) : widest;
	return (int)widest;
}

static void cells_draw(const char *name, const char *const *ends, size_t n, FILE *out)
{
	int width = ends_width(ends, n);

	fprintf(out, "%-*s bytes to\n%-*s", width, name, width, "from");
	for (size_t k = 0; k < n; k++)
		fprintf(out, " %*s", width, ends[k]);
	putc('\n', out);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%-*s", width, ends[i]);
		for (size_t k = 0; k < n; k++) {
			char key[3 * 512], bytes[UNIT_TEXT];
			int length = snprintf(key, sizeof(key), "%s%c%s%c%s", name, 0, ends[i], 0,
					      ends[k]) +
				     1;
			const struct view_cells_entry *e;

			HASH_FIND(hh, entries, key, (size_t)length, e);
			fprintf(out, " %*s", width, e ? unit_bytes(bytes, e->bytes) : ".");
		}
		putc('\n', out);
	}
}

/* The square must not be wider than its terminal. */
static size_t drawn_columns(FILE *out)
{
	size_t width = table_width(out);

	return width > 0 && width < DRAWN_COLUMNS ? width : DRAWN_COLUMNS;
}

static void cells_text(const struct viewer *v, FILE *out)
{
	const char *ends[2 * DRAWN_MOST + 2];
	struct view_cells_entry **list;
	size_t n, n_ends;

	if (!entries)
		return;
	n = cells_list(&list, compare_names);
	n_ends = ends_list(list, n, ends);
	if (n_ends && (n_ends + 1) * (size_t)(ends_width(ends, n_ends) + 1) <= drawn_columns(out))
		cells_draw(list[0]->name, ends, n_ends, out);
	else
		list_text(v, out);
	free(list);
}

/* ---- JSON ---- */

static void cells_json(const struct viewer *v, FILE *out)
{
	struct view_cells_entry **list;
	size_t n = cells_list(&list, compare_names);

	(void)v;
	for (size_t i = 0; i < n; i++)
		json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o}", "type", "cell", "name",
				     json_text(list[i]->name), "from", json_text(list[i]->from),
				     "to", json_text(list[i]->to), "calls",
				     json_count(list[i]->calls), "bytes",
				     json_count(list[i]->bytes)),
			   out);
	free(list);
}

const struct figure figure_cells = {cells_take, true, cells_text, cells_json, cells_forget};
