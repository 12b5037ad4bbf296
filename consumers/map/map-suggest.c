/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace map suggest: mappings for a view with better predicted costs, and what to write. */
#include <stdlib.h>

#include "consumers/cli/json.h"
#include "consumers/cli/command.h"
#include "consumers/map/map.h"
#include "pathmap/cost/suggestion.h"
#include "pathmap/base/table.h"

static void suggestion_json(const struct suggestion *s, const char *view, unsigned window)
{
	json_print(json_pack("{ss sb ss sf sI sf sf ss sf sf}", "view", view, "present",
			     (int)s->present, "lines", s->lines, "waves_per_s", s->waves_per_s,
			     "window", (json_int_t)window, "window_waves_per_s",
			     s->window_waves_per_s, "cpu_us", s->cpu_us, "busiest", s->busiest,
			     "busiest_cpu_us", s->busiest_cpu_us, "busiest_bytes",
			     s->busiest_bytes),
		   stdout);
}

static void amount_cell(struct table *table, double value, const char *unit)
{
	char *text = map_amount(value, unit);

	table_cell(table, "%s", text);
	free(text);
}

static void suggestions_print(const struct suggestions *s, const char *view, unsigned window)
{
	static const char *const heads[] = {"WAVES/S", "WINDOW",    "CPU OF ALL", "BUSIEST",
					    "CPU",     "ITS LINKS", "MAPPING"};
	static const struct table_column columns[] = {
		{},
		{.drop = 3},
		{.least = 6, .drop = 2, .wraps = true},
		{},
		{},
		{.least = 5, .drop = 1, .wraps = true},
		{.least = 24, .wraps = true},
	};
	struct table table;

	table_heads(&table, columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; i < s->n; i++) {
		const struct suggestion *item = &s->items[i];

		table_cell(&table, "%.0f", item->waves_per_s);
		table_cell(&table, "%.0f", item->window_waves_per_s);
		amount_cell(&table, item->cpu_us, "us");
		table_cell(&table, "%s", item->busiest);
		amount_cell(&table, item->busiest_cpu_us, "us");
		amount_cell(&table, item->busiest_bytes, "B");
		if (item->present)
			table_cell(&table, "as it is");
		else
			table_cell(&table, "view %s { %s }", view, item->lines);
	}
	table_say(stdout,
		  "Of %zu mappings that were tried, no other is better in everything; per wave, "
		  "and waves per second with one and with %u under way:",
		  s->tried, window);
	putchar('\n');
	table_print(&table, stdout);
	table_fini(&table);
}

int map_suggest(const struct pathmap *map, const char *view, unsigned window, bool json)
{
	struct suggestions s;
	struct calibration c;
	struct error e;

	map_calibration(&c);
	if (suggestions_make(&s, map, view, &c, window, &e) < 0) {
		fprintf(stderr, "evspace map: %s\n", e.text);
		return EXIT_USAGE;
	}
	if (json) {
		for (size_t i = 0; i < s.n; i++)
			suggestion_json(&s.items[i], view, window);
	} else {
		suggestions_print(&s, view, window);
		if (!c.measured) {
			putchar('\n');
			table_say(stdout, "By built-in costs; `evspace doctor` measures those of "
					  "this host.");
		}
	}
	suggestions_fini(&s);
	return EXIT_FINE;
}
