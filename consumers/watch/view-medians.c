/* SPDX-License-Identifier: BSD-3-Clause */
/* The medians of a view's answer: those of its last wave, since medians of waves cannot be
 * added. */
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "consumers/watch/view.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

static size_t n_medians;

static size_t medians_take(const struct viewer *v)
{
	struct evspace_median m;

	for (n_medians = 0; evspace_median(v->follow.client, &m); n_medians++)
		;
	return n_medians;
}

static const struct table_column median_columns[] = {
	{.pad = -24, .least = 10, .parts = 2},
	{.pad = -24, .gap = 1, .least = 12},
	{.pad = 12, .gap = 1, .drop = 1},
	{.pad = 12, .gap = 1},
};

static void medians_text(const struct viewer *v, FILE *out)
{
	static const char *const heads[] = {"MEDIANS OF", "OPERATION", "COUNT", "MEDIAN"};
	struct evspace_median m;
	struct table t;

	if (n_medians == 0)
		return;
	evspace_rewind(v->follow.client);
	table_heads(&t, median_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; viewer_shows(v, i, n_medians) && evspace_median(v->follow.client, &m);
	     i++) {
		char class[96], text[UNIT_TEXT];

		words_class(class, sizeof(class), v->follow.client, *m.op ? m.op : "all", m.comm);
		table_cell(&t, "%s", m.name);
		table_cell(&t, "%s", class);
		table_cell(&t, "%s", unit_count(text, m.count));
		table_cell(&t, "%s",
			   strcmp(m.what, "bytes") == 0 ? unit_bytes(text, m.value)
							: unit_duration(text, m.value));
	}
	table_print(&t, out);
	table_fini(&t);
	viewer_more(v, n_medians, out);
}

static void medians_json(const struct viewer *v, FILE *out)
{
	struct evspace_median m;

	evspace_rewind(v->follow.client);
	while (evspace_median(v->follow.client, &m))
		json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "median",
				     "name", json_text(m.name), "op", json_text(m.op), "comm",
				     json_comm(m.comm), "what", json_text(m.what), "median",
				     json_count(m.value), "low", json_count(m.low), "high",
				     json_count(m.high), "count", json_count(m.count)),
			   out);
}

const struct figure figure_medians = {medians_take, false, medians_text, medians_json, NULL};
