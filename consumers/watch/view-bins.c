/* SPDX-License-Identifier: BSD-3-Clause */
/* The histograms of a view's answer: quantiles, bars, and bins. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "consumers/cli/json.h"
#include "pathmap/base/quantity.h"
#include "consumers/watch/view.h"
#include "consumers/cli/words.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/table.h"
#include "tree/data/bin.h"

/* Width of a bar, and of the text before it. */
#define BAR_WIDTH 50u
#define BAR_AT	  32u

/* A bin that has values. */
struct view_bins_bin {
	uint64_t count, sum, most;
	unsigned number;
};

struct view_bins_histogram {
	UT_hash_handle hh;
	char *name, *op, *what; /* in the key */
	uint32_t comm;
	uint64_t count, sum, most;
	struct view_bins_bin *bins; /* sorted by number; room for all bins would take too much
				     * memory */
	size_t n_bins;
	size_t key_bytes;
	char key[]; /* the three texts, each with its final 0, then the communicator */
};

static struct view_bins_histogram *histograms;

static struct view_bins_histogram *histogram_at(const struct evspace_bin *bin)
{
	char key[1024];
	int bytes = snprintf(key, sizeof(key), "%s%c%s%c%s%c%08x", bin->name, 0, bin->op, 0,
			     bin->what, 0, bin->comm) +
		    1;
	struct view_bins_histogram *h;

	if ((size_t)bytes > sizeof(key))
		bytes = sizeof(key);
	HASH_FIND(hh, histograms, key, (size_t)bytes, h);
	if (h)
		return h;
	h = memory_new(1, sizeof(*h) + (size_t)bytes);
	h->key_bytes = (size_t)bytes;
	memcpy(h->key, key, h->key_bytes);
	h->name = h->key;
	h->op = h->name + strlen(h->name) + 1;
	h->what = h->op + strlen(h->op) + 1;
	h->comm = bin->comm;
	HASH_ADD_KEYPTR(hh, histograms, h->key, h->key_bytes, h);
	return h;
}

/* Bin @number, which is added if it is new. */
static struct view_bins_bin *bin_at(struct view_bins_histogram *h, unsigned number)
{
	size_t at = 0, end = h->n_bins;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (h->bins[middle].number < number)
			at = middle + 1;
		else
			end = middle;
	}
	if (at < h->n_bins && h->bins[at].number == number)
		return &h->bins[at];
	h->bins = memory_room(h->bins, h->n_bins, sizeof(*h->bins));
	memmove(&h->bins[at + 1], &h->bins[at], (h->n_bins - at) * sizeof(*h->bins));
	h->n_bins++;
	h->bins[at] = (struct view_bins_bin){.number = number};
	return &h->bins[at];
}

static void bins_forget(void)
{
	struct view_bins_histogram *h, *next;

	HASH_ITER(hh, histograms, h, next)
	{
		HASH_DEL(histograms, h);
		free(h->bins);
		free(h);
	}
}

static size_t bins_take(const struct viewer *v)
{
	struct evspace_bin bin;
	size_t n = 0;

	if (v->fresh)
		bins_forget();
	for (; evspace_bin(v->follow.client, &bin); n++) {
		struct view_bins_histogram *h = histogram_at(&bin);
		struct view_bins_bin *b = bin_at(h, bin_number(bin.low));

		b->count += bin.count;
		b->sum += bin.sum;
		if (bin.most > b->most)
			b->most = bin.most;
		h->count += bin.count;
		h->sum += bin.sum;
		if (bin.most > h->most)
			h->most = bin.most;
	}
	return n;
}

/* The value below which @share of all lie, as the middle of its bin. */
static uint64_t quantile(const struct view_bins_histogram *h, double share)
{
	uint64_t rank = (uint64_t)(share * (double)h->count), below = 0, middle;
	size_t i = 0;
	unsigned number;

	while (i < h->n_bins - 1 && below + h->bins[i].count <= rank)
		below += h->bins[i++].count;
	number = h->bins[i].number;
	middle = bin_low(number) + (bin_high(number) - bin_low(number)) / 2;
	return middle < h->most ? middle : h->most;
}

/* By name, then by the largest sum. */
static int compare(const void *a, const void *b)
{
	const struct view_bins_histogram *x = *(const struct view_bins_histogram *const *)a;
	const struct view_bins_histogram *y = *(const struct view_bins_histogram *const *)b;
	int order = strcmp(x->what, y->what);

	if (order == 0)
		order = strcmp(x->name, y->name);
	if (order == 0 && x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return order ? order : strcmp(x->op, y->op);
}

static size_t bins_list(struct view_bins_histogram ***list)
{
	size_t n = 0;
	struct view_bins_histogram *h;

	*list = memory_new(HASH_COUNT(histograms) + 1, sizeof(**list));
	for (h = histograms; h; h = h->hh.next)
		(*list)[n++] = h;
	qsort(*list, n, sizeof(**list), compare);
	return n;
}

/* ---- text ---- */

static const char *value_text(char buf[UNIT_TEXT], const struct view_bins_histogram *h,
			      uint64_t value)
{
	return strcmp(h->what, "bytes") == 0 ? unit_bytes(buf, value) : unit_duration(buf, value);
}

/* what it is of, and the quantiles, are always shown */
static const struct table_column quantile_columns[] = {
	{.pad = -24, .least = 10, .parts = 2},
	{.pad = -24, .gap = 1, .least = 12},
	{.pad = 12, .gap = 1, .drop = 3},
	{.pad = 9, .gap = 1, .drop = 2},
	{.pad = 9, .gap = 1},
	{.pad = 9, .gap = 1, .drop = 1},
	{.pad = 9, .gap = 1},
	{.pad = 9, .gap = 1},
};

static void heads_add(const struct view_bins_histogram *h, struct table *t)
{
	static const char *const heads[] = {"COUNT", "MEAN", "P50", "P90", "P99", "MAX"};

	table_cell(t, "%s", strcmp(h->what, "bytes") == 0 ? "SIZES OF" : "DURATIONS OF");
	table_cell(t, "OPERATION");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		table_cell(t, "%s", heads[i]);
}

static void quantiles_add(const struct viewer *v, const struct view_bins_histogram *h,
			  struct table *t)
{
	static const double shares[] = {0.5, 0.9, 0.99};
	char text[UNIT_TEXT], mean[UNIT_TEXT] = "-", key[96];

	words_class(key, sizeof(key), v->follow.client, *h->op ? h->op : "all", h->comm);
	if (h->count)
		value_text(mean, h, h->sum / h->count);
	table_cell(t, "%s", h->name);
	table_cell(t, "%s", key);
	table_cell(t, "%s", unit_count(text, h->count));
	table_cell(t, "%s", mean);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		table_cell(t, "%s", value_text(text, h, quantile(h, shares[i])));
	table_cell(t, "%s", value_text(text, h, h->most));
}

/* A bar for each power of two; its length is its share of the longest. */
static void bars_add(const struct view_bins_histogram *h, unsigned most, struct table *t)
{
	uint64_t powers[BIN_COUNT / BIN_STEPS] = {0}, longest = 1;
	size_t first = BIN_COUNT, last = 0;

	for (size_t i = 0; i < h->n_bins; i++) {
		size_t power = h->bins[i].number / BIN_STEPS;

		powers[power] += h->bins[i].count;
		if (powers[power] > longest)
			longest = powers[power];
		if (h->bins[i].count && power < first)
			first = power;
		if (h->bins[i].count)
			last = power;
	}
	for (size_t power = first; power <= last; power++) {
		char low[UNIT_TEXT], count[UNIT_TEXT];
		int width = (int)((double)powers[power] / (double)longest * most + 0.5);

		table_line(t, "  from %10s %12s  %.*s",
			   value_text(low, h, bin_low((unsigned)(power * BIN_STEPS))),
			   unit_count(count, powers[power]), width,
			   "##################################################");
	}
}

static void bins_text(const struct viewer *v, FILE *out)
{
	size_t n, width = table_width(out);
	unsigned most =
		width > 0 && width < BAR_AT + BAR_WIDTH ? (unsigned)width - BAR_AT : BAR_WIDTH;
	struct view_bins_histogram **list;
	struct table t;

	if (!histograms)
		return;
	n = bins_list(&list);
	table_init(&t, sizeof(quantile_columns) / sizeof(quantile_columns[0]));
	t.columns = quantile_columns;
	for (size_t i = 0; viewer_shows(v, i, n); i++) {
		if (i == 0 || strcmp(list[i]->what, list[i - 1]->what) != 0)
			heads_add(list[i], &t);
		quantiles_add(v, list[i], &t);
		if (v->bars)
			bars_add(list[i], most, &t);
	}
	table_print(&t, out);
	table_fini(&t);
	viewer_more(v, n, out);
	free(list);
}

/* ---- JSON ---- */

static void histogram_json(const struct view_bins_histogram *h, FILE *out)
{
	for (size_t i = 0; i < h->n_bins; i++) {
		const struct view_bins_bin *b = &h->bins[i];

		json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "bin",
				     "name", json_text(h->name), "op", json_text(h->op), "comm",
				     json_comm(h->comm), "what", json_text(h->what), "low",
				     json_count(bin_low(b->number)), "high",
				     b->number + 1 < BIN_COUNT ? json_count(bin_high(b->number))
							       : json_null(),
				     "count", json_count(b->count), "sum", json_count(b->sum),
				     "most", json_count(b->most)),
			   out);
	}
}

static void bins_json(const struct viewer *v, FILE *out)
{
	struct view_bins_histogram **list;
	size_t n = bins_list(&list);

	(void)v;
	for (size_t i = 0; i < n; i++)
		histogram_json(list[i], out);
	free(list);
}

const struct figure figure_bins = {bins_take, true, bins_text, bins_json, bins_forget};
