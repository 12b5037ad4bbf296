/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints elements of programs and their tuples. */
#include "consumers/cli/element-show.h"

#include <inttypes.h>
#include <stdio.h>

#include "consumers/cli/field-words.h"
#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "pathmap/base/quantity.h"

static void tuple_json(const struct element_tuple *t)
{
	json_print(json_pack("{s:o*,s:o,s:o,s:o,s:o,s:o,s:o}", "node",
			     t->node ? json_text(t->node) : NULL, "run", json_text(t->run),
			     "element", json_text(t->element), "number", json_count(t->number),
			     "time_ns", json_time(t->time_ns), "lost", json_count(t->lost),
			     "fields", field_words_json(t->fields, t->tuple)),
		   stdout);
}

static void tuple_print(const struct element_tuple *t)
{
	char clock[32];

	if (t->lost)
		fprintf(stderr, "evspace element: %" PRIu64 " overwritten before they were read\n",
			t->lost);
	words_clock(clock, sizeof(clock), t->time_ns, 6);
	printf("%s #%" PRIu64, clock, t->number);
	field_words_print(t->fields, t->tuple, stdout);
	putchar('\n');
}

void element_tuple_show(const struct element_tuple *tuple, bool json)
{
	(json ? tuple_json : tuple_print)(tuple);
	fflush(stdout);
}

/* ---- lists ---- */

static const struct table_column list_columns[] = {
	{.least = 8},	       {.least = 8},	      {.pad = 8},   {.pad = 10},
	{.pad = 6, .drop = 2}, {.pad = 7, .drop = 1}, {.least = 12}};

static const struct table_column elsewhere_columns[] = {{.least = 8}, {.least = 8}, {.least = 8},
							{.pad = 8},   {.pad = 10},  {.least = 12}};

void element_list_begin(struct element_list *list, bool json, bool elsewhere)
{
	static const char *const heads[] = {"RUN",    "ELEMENT", "HELD",  "WRITTEN",
					    "WRITER", "READERS", "FIELDS"};
	static const char *const elsewhere_heads[] = {"NODE", "RUN",	 "ELEMENT",
						      "HELD", "WRITTEN", "FIELDS"};

	*list = (struct element_list){.json = json, .elsewhere = elsewhere};
	if (elsewhere)
		table_heads(&list->table, elsewhere_columns, elsewhere_heads,
			    sizeof(elsewhere_heads) / sizeof(elsewhere_heads[0]));
	else
		table_heads(&list->table, list_columns, heads, sizeof(heads) / sizeof(heads[0]));
}

static void list_json(const struct evspace_element_state *s, const char *node)
{
	json_print(json_pack("{s:o*,s:o,s:o,s:o,s:i,s:i,s:o,s:o,s:o*,s:o*,s:o}", "node",
			     node ? json_text(node) : NULL, "run", json_text(s->run), "element",
			     json_text(s->name), "fields", json_text(s->fields), "capacity",
			     (int)s->capacity, "patience_ms", s->wait_ms, "written",
			     json_count(s->written), "oldest", json_count(s->oldest), "writer",
			     node ? NULL : json_boolean(s->has_writer), "readers",
			     node ? NULL : json_integer((json_int_t)s->readers), "program",
			     json_text(s->program)),
		   stdout);
}

void element_list_add(struct element_list *list, const struct evspace_element_state *s,
		      const char *node)
{
	struct table *t = &list->table;
	char held[UNIT_TEXT], written[UNIT_TEXT];

	if (list->json) {
		list_json(s, list->elsewhere ? node : NULL);
		return;
	}
	if (list->elsewhere)
		table_cell(t, "%s", node);
	table_cell(t, "%s", s->run);
	table_cell(t, "%s", s->name);
	table_cell(t, "%s", unit_count(held, s->written - s->oldest));
	table_cell(t, "%s", unit_count(written, s->written));
	if (!list->elsewhere) {
		table_cell(t, "%s", s->has_writer ? "yes" : "-");
		table_cell(t, s->wait_ms ? "%u" : "-", s->readers);
	}
	table_cell(t, "%s", s->fields);
}

void element_list_end(struct element_list *list)
{
	if (!list->json)
		table_print(&list->table, stdout);
	table_fini(&list->table);
}
