/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective operations of a view's answer: those of its last wave, as far as they have come.
 */
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "consumers/watch/view.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/process.h"

static size_t n_meetings;

static size_t meetings_take(const struct viewer *v)
{
	struct evspace_meeting m;

	for (n_meetings = 0; evspace_meeting(v->follow.client, &m); n_meetings++)
		;
	return n_meetings;
}

static const struct table_column meeting_columns[] = {
	{.pad = -16, .drop = 4, .least = 8, .parts = 2},
	{.pad = -24, .gap = 1, .least = 12},
	{.pad = 8, .gap = 1},
	{.pad = 9, .gap = 1},
	{.pad = 10, .gap = 1},
	{.pad = -10, .gap = 1},
	{.pad = 10, .gap = 1},
	{.pad = 10, .gap = 1, .drop = 3},
};

/* The sum of so many differences of two times; one of which clocks cannot tell that there is any is
 * "?". */
static const char *duration(char buf[UNIT_TEXT], const struct evspace_meeting *m, uint64_t ns,
			    uint32_t differences)
{
	return m->hosts && (double)ns <= 2 * m->error_ns * differences ? "?"
								       : unit_duration(buf, ns);
}

static void row(const struct viewer *v, const struct evspace_meeting *m, struct table *t)
{
	char class[96], text[UNIT_TEXT], who[PROCESS_NAME];

	words_class(class, sizeof(class), v->follow.client, m->op, m->comm);
	table_cell(t, "%s", m->name);
	table_cell(t, "%s", class);
	table_cell(t, "#%u", m->number);
	if (m->size)
		table_cell(t, "%u of %u", m->count, m->size);
	else
		table_cell(t, "%u", m->count);
	table_cell(t, "%s", duration(text, m, (uint64_t)(m->last_ns - m->start_ns), 1));
	table_cell(t, "%s", m->rank >= 0 ? process_name(who, m->rank) : m->who);
	table_cell(t, "%s", duration(text, m, m->waited_ns, m->count - 1));
	table_cell(t, "%s", unit_bytes(text, m->bytes));
}

static void meetings_text(const struct viewer *v, FILE *out)
{
	static const char *const heads[] = {"MEETINGS OF", "OPERATION", "NUMBER", "CAME",
					    "SPREAD",	   "LAST",	"WAITED", "BYTES"};
	struct evspace_meeting m;
	struct table t;

	if (n_meetings == 0)
		return;
	evspace_rewind(v->follow.client);
	table_heads(&t, meeting_columns, heads, sizeof(heads) / sizeof(heads[0]));
	for (size_t i = 0; viewer_shows(v, i, n_meetings) && evspace_meeting(v->follow.client, &m);
	     i++)
		row(v, &m, &t);
	table_print(&t, out);
	table_fini(&t);
	viewer_more(v, n_meetings, out);
}

static void meetings_json(const struct viewer *v, FILE *out)
{
	struct evspace_meeting m;

	evspace_rewind(v->follow.client);
	while (evspace_meeting(v->follow.client, &m)) {
		json_t *o = json_pack(
			"{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b}",
			"type", "meeting", "name", json_text(m.name), "op", json_text(m.op), "comm",
			json_comm(m.comm), "number", json_count(m.number), "count",
			json_count(m.count), "size", m.size ? json_count(m.size) : json_null(),
			"mixed", m.mixed, "root", m.root >= 0 ? json_integer(m.root) : json_null(),
			"start_ns", json_time(m.start_ns), "last_start_ns", json_time(m.last_ns),
			"end_ns", json_time(m.end_ns), "last_end_ns", json_time(m.last_end_ns),
			"waited_ns", json_count(m.waited_ns), "bytes", json_count(m.bytes),
			"error_ns", json_figure(m.error_ns), "hosts", m.hosts);

		json_object_set_new(o, "last_rank", json_process(m.rank));
		json_object_set_new(o, "last", json_text(m.who));
		json_print(o, out);
	}
}

const struct figure figure_meetings = {meetings_take, false, meetings_text, meetings_json, NULL};
