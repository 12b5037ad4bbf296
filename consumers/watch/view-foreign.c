/* SPDX-License-Identifier: BSD-3-Clause */
/* Foreign records of a view's answer: what is said of any kind, its numbers. */
#include <inttypes.h>

#include "consumers/cli/json.h"
#include "consumers/watch/view.h"
#include "pathmap/base/table.h"

/* Numbers of a record that a table shows. */
#define SHOWN 8u

static size_t n_records;

static size_t foreign_take(const struct viewer *v)
{
	struct evspace_foreign r;

	for (n_records = 0; evspace_foreign(v->follow.client, &r); n_records++)
		;
	return n_records;
}

static const struct table_column foreign_columns[] = {
	{.pad = -24, .least = 10, .parts = 2},
	{.pad = -12, .gap = 1},
	{.gap = 1, .wraps = true},
};

static void foreign_text(const struct viewer *v, FILE *out)
{
	static const char *const heads[] = {"FOREIGN RECORDS OF", "KIND", "NUMBERS"};
	struct evspace_foreign r;
	struct table t;

	if (n_records == 0)
		return;
	evspace_rewind(v->follow.client);
	table_heads(&t, foreign_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; viewer_shows(v, i, n_records) && evspace_foreign(v->follow.client, &r);
	     i++) {
		char text[SHOWN * 21 + 32] = "";
		int n = 0;

		for (unsigned k = 0; k < r.n_words && k < SHOWN; k++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%" PRIu64,
				      k ? " " : "", r.words[k]);
		if (r.n_words > SHOWN)
			snprintf(text + n, sizeof(text) - (size_t)n, " ... (%u)", r.n_words);
		table_cell(&t, "%s", r.name);
		table_cell(&t, "%s", r.kind);
		table_cell(&t, "%s", text);
	}
	table_print(&t, out);
	table_fini(&t);
	viewer_more(v, n_records, out);
}

static void foreign_json(const struct viewer *v, FILE *out)
{
	struct evspace_foreign r;

	evspace_rewind(v->follow.client);
	while (evspace_foreign(v->follow.client, &r)) {
		json_t *words = json_array();

		for (unsigned k = 0; k < r.n_words; k++)
			json_array_append_new(words, json_count(r.words[k]));
		json_print(json_pack("{s:s,s:o,s:o,s:o}", "type", "foreign", "name",
				     json_text(r.name), "kind", json_text(r.kind), "words", words),
			   out);
	}
}

const struct figure figure_foreign = {foreign_take, false, foreign_text, foreign_json, NULL};
