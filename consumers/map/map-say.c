/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what maps say beside views: what is collected, what consumers may, what is steered. */
#include "consumers/map/map.h"

#include <stdio.h>
#include <stdlib.h>

#include "consumers/cli/json.h"
#include "pathmap/base/table.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/steer.h"

static void recordings_json(const struct pathmap *map)
{
	json_t *channels = json_object(), *channel;
	const char *const *names;
	size_t n = pathmap_channels(&names);

	for (size_t i = 0; i < n; i++) {
		const struct recording *r = pathmap_recording(map, names[i]);

		if (!r->collected)
			continue;
		channel = json_pack("{ss si sI ss so so}", "element", r->element, "capacity",
				    (int)r->capacity, "lifetime_ns", (json_int_t)r->lifetime_ns,
				    "mode", r->mode, "remote", json_text(r->remote),
				    "remote_capacity",
				    r->remote[0] ? json_count(r->remote_capacity) : json_null());
		json_object_set_new(channels, names[i], channel);
	}
	json_print(json_pack("{so}", "channels", channels), stdout);
}

static void elements_json(const struct pathmap *map)
{
	const struct element_rule *rules;
	size_t n = pathmap_rules(map, &rules);
	char *ranks = pathmap_only_ranks(map);
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct recording *says = &rules[i].says;

		json_array_append_new(
			array,
			json_pack("{so so so so so}", "pattern", json_text(rules[i].pattern),
				  "capacity",
				  says->capacity ? json_count(says->capacity) : json_null(),
				  "lifetime_ns",
				  says->lifetime_ns ? json_count(says->lifetime_ns) : json_null(),
				  "mode", says->mode ? json_text(says->mode) : json_null(),
				  "remote",
				  says->remote[0] ? json_text(says->remote) : json_null()));
	}
	json_print(json_pack("{so so so}", "elements", array, "collected_ranks",
			     ranks != NULL ? json_text(ranks) : json_null(), "collected_threads",
			     pathmap_only_threads(map) ? json_count(pathmap_only_threads(map))
						       : json_null()),
		   stdout);
	free(ranks);
}

/* What elements are like by name, and which are collected at all, where the map says it. */
static void elements_show(const struct pathmap *map, bool json)
{
	const struct element_rule *rules;
	size_t n = pathmap_rules(map, &rules);
	char *ranks = pathmap_only_ranks(map), *text;
	bool only = ranks != NULL || pathmap_only_threads(map) > 0;

	free(ranks);
	if (n == 0 && !only)
		return;
	if (json) {
		elements_json(map);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		text = element_rule_text(&rules[i]);
		table_say(stdout, "elements %s", text);
		free(text);
	}
	text = pathmap_only_text(map);
	if (only)
		table_say(stdout, "collected are %s", text);
	free(text);
}

/* What consumers may define and choose, where the map says it. */
static void definable_show(const struct pathmap *map, bool json)
{
	char *text, *shapes;

	if (!pathmap_definable(map)->said)
		return;
	text = definable_text(pathmap_definable(map));
	shapes = definable_shapes(pathmap_definable(map));
	if (json)
		json_print(json_pack("{so so}", "definable", json_text(text), "choosable",
				     json_text(shapes)),
			   stdout);
	else
		table_say(stdout, "consumers may define views %s", text);
	if (!json && *shapes)
		table_say(stdout, "consumers may choose for any view: %s", shapes);
	free(text);
	free(shapes);
}

static void budget_show(const struct pathmap *map, bool json)
{
	double budget = pathmap_budget(map);

	if (budget > 0 && json)
		json_print(json_pack("{sf}", "budget", budget), stdout);
	else if (budget > 0)
		table_say(stdout, "consumers may slow a run down by %g %% together", budget * 100);
}

/* Over which ranks the program's own collectives run. */
static void steer_show(const struct pathmap *map, bool json)
{
	char *text;

	(void)steer_text(map, &text, NULL);
	if (text && json)
		json_print(json_pack("{so}", "steer", json_text(text)), stdout);
	else if (text)
		table_say(stdout, "steered: %s", text);
	free(text);
}

void map_say(const struct pathmap *map, bool json)
{
	if (json)
		recordings_json(map);
	else
		pathmap_print_recordings(map, stdout);
	elements_show(map, json);
	definable_show(map, json);
	steer_show(map, json);
	budget_show(map, json);
	if (!json)
		putchar('\n');
}
