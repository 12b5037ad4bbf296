/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints classes: mode, calls, bytes, and how many of the calls were recorded. */
#include "consumers/cli/tally.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "node-agent/segment/segment-class.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/op.h"

_Static_assert((int)EVSPACE_TRACE == MODE_TRACE && (int)EVSPACE_OFF == MODE_OFF &&
		       (int)EVSPACE_COUNT == MODE_COUNT && (int)EVSPACE_TIME == MODE_TIME &&
		       (int)EVSPACE_SAMPLE == MODE_SAMPLE && (int)EVSPACE_ONE_IN == MODE_ONE_IN,
	       "modes have the same numbers everywhere");

void tally_add(struct classes *classes, const struct evspace_collected *c)
{
	int channel = channel_find(c->channel);
	const struct class_sum sum = {
		.comm = c->comm,
		/* "?": of a release that knows more than this one */
		.channel = (uint16_t)(channel >= 0 ? channel : CHANNEL_MAX),
		.mode = (uint8_t)c->mode,
		.world = c->world != 0,
		.processes = c->processes,
		.calls = c->calls,
		.bytes = c->bytes,
		.time_ns = c->time_ns,
		.skipped = c->skipped,
	};

	if (c->mode >= 0 && c->mode <= UINT8_MAX)
		classes_add(classes, &sum);
}

bool tally_shows(const struct class_sum *sum)
{
	return sum->calls > 0 || sum->mode != MODE_TRACE;
}

static uint64_t recorded(const struct class_sum *sum)
{
	return sum->calls > sum->skipped ? sum->calls - sum->skipped : 0;
}

/* class, mode and calls are always shown */
#define TALLY_COLUMNS 8
static const struct table_column tally_columns[TALLY_COLUMNS] = {
	{.pad = -20, .least = 12},	  {.pad = -6, .gap = 1},
	{.pad = 9, .gap = 1, .drop = 1},  {.pad = 15, .gap = 1},
	{.pad = 12, .gap = 1, .drop = 3}, {.pad = 15, .gap = 1, .drop = 5},
	{.pad = 15, .gap = 1, .drop = 4}, {.drop = 2},
};

static void class_add(struct table *t, const struct class_sum *sum, const char *indent)
{
	char name[CLASS_TEXT], text[UNIT_TEXT];

	table_cell(t, "%s%s", indent, class_name(sum, name));
	table_cell(t, "%s", segment_mode_name(sum->mode));
	table_cell(t, "%u", sum->processes);
	table_cell(t, "%s", unit_count(text, sum->calls));
	table_cell(t, "%s", unit_bytes(text, sum->bytes));
	table_cell(t, "%s", unit_count(text, recorded(sum)));
	table_cell(t, "%s", unit_count(text, sum->skipped));
	/* its time is that of the call, while the operation of a nonblocking one goes on */
	table_cell(t, "%s%s", sum->time_ns ? unit_duration(text, sum->time_ns) : "",
		   !sum->time_ns			? ""
		   : sum->channel == CHANNEL_COMPLETION ? " from start to end"
		   : sum->mode > MODE_ONE_IN		? " in those recorded"
							: " in them");
}

static int compare_calls(const void *a, const void *b)
{
	const struct class_sum *x = *(const struct class_sum *const *)a;
	const struct class_sum *y = *(const struct class_sum *const *)b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->channel != y->channel ? (int)x->channel - (int)y->channel
					: (x->comm > y->comm) - (x->comm < y->comm);
}

void tally_print(struct classes *classes, const char *indent, size_t most, const char *how,
		 FILE *out)
{
	size_t n = classes_count(classes), shown = 0;
	const struct class_sum **list = memory_new(n + 1, sizeof(*list));
	static const char *const heads[] = {"class", "mode",	 "processes",	 "calls",
					    "bytes", "recorded", "not recorded", ""};
	struct table_column columns[TALLY_COLUMNS];
	struct table t;

	for (size_t i = 0; i < n; i++) {
		if (tally_shows(classes_at(classes, i)))
			list[shown++] = classes_at(classes, i);
	}
	qsort(list, shown, sizeof(*list), compare_calls);
	memcpy(columns, tally_columns, sizeof(columns));
	columns[0].pad -= (int)strlen(indent);
	table_init(&t, TALLY_COLUMNS);
	t.columns = columns;
	table_cell(&t, "%sclass", indent);
	for (size_t i = 1; i < TALLY_COLUMNS; i++)
		table_cell(&t, "%s", heads[i]);
	for (size_t i = 0; i < shown && (!most || i < most); i++)
		class_add(&t, list[i], indent);
	if (most && shown > most)
		table_line(&t, "%sand %zu more (%s)", indent, shown - most, how);
	if (shown)
		table_print(&t, out);
	table_fini(&t);
	free(list);
}

void tally_print_fate(const struct accounting *h, const char *indent, FILE *out)
{
	char count[UNIT_TEXT], line[WORDS_TEXT] = "";

	if (!h->written)
		return;
	words_add(line, "%s%s event%s recorded:", indent, unit_count(count, h->written),
		  h->written == 1 ? " was" : "s were");
	words_add(line, " %s are there", unit_count(count, h->held));
	if (accounting_overwritten(h))
		words_add(line, ", %s were overwritten",
			  unit_count(count, accounting_overwritten(h)));
	if (h->discarded)
		words_add(line, ", %s were discarded", unit_count(count, h->discarded));
	if (h->lost)
		words_add(line, ", %s are lost: no element had room (run --threads, --reserve)",
			  unit_count(count, h->lost));
	table_say(out, "%s", line);
}

void tally_fate_json(const struct accounting *h, json_t *object)
{
	json_object_update_new(object,
			       json_pack("{s:I,s:I,s:I,s:I,s:I}", "written", (json_int_t)h->written,
					 "held", (json_int_t)h->held, "overwritten",
					 (json_int_t)accounting_overwritten(h), "discarded",
					 (json_int_t)h->discarded, "lost", (json_int_t)h->lost));
}

json_t *tally_class_json(const struct class_sum *sum)
{
	char name[CLASS_TEXT];

	return json_pack("{s:s,s:s,s:o,s:b,s:s,s:i,s:I,s:I,s:I,s:I,s:I}", "class",
			 class_name(sum, name), "group", channel_name(sum->channel), "comm",
			 json_comm(sum->comm), "world", (int)sum->world, "mode",
			 segment_mode_name(sum->mode), "processes", (int)sum->processes, "calls",
			 (json_int_t)sum->calls, "bytes", (json_int_t)sum->bytes, "recorded",
			 (json_int_t)recorded(sum), "not_recorded", (json_int_t)sum->skipped,
			 "time_ns", (json_int_t)sum->time_ns);
}

json_t *tally_json(struct classes *classes)
{
	json_t *array = json_array();

	for (size_t i = 0; i < classes_count(classes); i++) {
		if (tally_shows(classes_at(classes, i)))
			json_array_append_new(array, tally_class_json(classes_at(classes, i)));
	}
	return array;
}
