/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints predicted costs below each view's tree, and what would cost less (evspace map suggest). */
#include "consumers/map/map.h"

#include <math.h>
#include <stdlib.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/table.h"
#include "pathmap/cost/cost.h"

/* Most hosts and links shown. */
#define SHOWN 4u

void map_calibration(struct calibration *c)
{
	char *path = calibration_path();
	struct error e;

	if (calibration_read(c, path, &e) < 0)
		fprintf(stderr, "evspace map: %s; predicting with built-in costs\n", e.text);
	free(path);
}

/* An amount for people, "640 us", "14 kB", for the caller to free(). */
static char *map_amount(double value, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G"};
	size_t i = 0;

	while (value >= 9999.5 && i + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
		value /= 1000;
		i++;
	}
	return memory_format("%.*f %s%s", value < 9.995 ? 1 : 0, value, prefixes[i], unit);
}

/* The next host in descending order of @value, after the one with the value @below and the index
 * @after; n_hosts: none. */
static size_t host_ranked(const struct cost *cost, size_t first, double (*value)(const void *),
			  double below, size_t after)
{
	size_t best = cost->n_hosts;

	for (size_t i = first; i < cost->n_hosts; i++) {
		double here = value(&cost->hosts[i]);
		bool behind = here < below || (here <= below && i > after);

		if (behind && (best == cost->n_hosts || here > value(&cost->hosts[best])))
			best = i;
	}
	return best;
}

static double host_cpu(const void *host)
{
	return ((const struct cost_host *)host)->cpu_us;
}

static double host_bytes(const void *host)
{
	return ((const struct cost_host *)host)->bytes;
}

/* Print the hosts from @first on with the largest values, in descending order. */
static void ranked_print(const struct cost *cost, size_t first, double (*value)(const void *),
			 const char *unit, FILE *out)
{
	double below = INFINITY;
	size_t at = 0, n, size;
	char *text = NULL;
	FILE *words = open_memstream(&text, &size);

	if (words == NULL)
		abort();

	for (n = 0; n < SHOWN; n++) {
		char *amount;

		at = host_ranked(cost, first, value, below, at);
		if (at == cost->n_hosts)
			break;
		below = value(&cost->hosts[at]);
		amount = map_amount(below, unit);
		fprintf(words, "%s%s%s%s %s", n > 0 ? ", " : "  ",
			first > 0 ? cost->hosts[at].parent->node : "", first > 0 ? "-" : "",
			cost->hosts[at].place->node, amount);
		free(amount);
	}
	fprintf(words, "%s a wave", cost->n_hosts - first > n ? ", others less" : "");
	if (fclose(words) == EOF)
		abort();
	table_say(out, "%s", text);
	free(text);
}

void map_cost_print(const struct cost *cost, FILE *out)
{
	char *all = map_amount(cost->cpu_us, "us");

	table_say(out,
		  "predicted: %.0f waves/s, %.0f with %u under way; CPU time of all hosts %s a "
		  "wave%s",
		  cost->waves_per_s, cost->window_waves_per_s, cost->window, all,
		  cost->measured ? "" : " (by built-in costs; `evspace doctor` measures)");
	ranked_print(cost, 0, host_cpu, "us", out);
	if (cost->n_hosts > 1)
		ranked_print(cost, 1, host_bytes, "B", out);
	free(all);
}

json_t *map_cost_json(const struct cost *cost)
{
	json_t *hosts = json_array();

	for (size_t i = 0; i < cost->n_hosts; i++) {
		const struct cost_host *host = &cost->hosts[i];

		json_array_append_new(
			hosts,
			json_pack("{ss ss? sf sf sf}", "node", host->place->node, "parent",
				  host->parent != NULL ? host->parent->node : NULL, "cpu_us",
				  host->cpu_us, "bytes", host->bytes, "records", host->records));
	}
	return json_pack("{sf sI sf sf sb so}", "waves_per_s", cost->waves_per_s, "window",
			 (json_int_t)cost->window, "window_waves_per_s", cost->window_waves_per_s,
			 "cpu_us", cost->cpu_us, "calibrated", (int)cost->measured, "hosts", hosts);
}

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
		calibration_fini(&c);
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
	calibration_fini(&c);
	return EXIT_FINE;
}
