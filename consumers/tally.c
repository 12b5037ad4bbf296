/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints classes: mode, calls, bytes, and how many of the calls were recorded. */
#include "consumers/tally.h"

#include <stdlib.h>

#include "consumers/unit.h"
#include "node-agent/segment-class.h"
#include "pathmap/memory.h"
#include "tree/op.h"

bool tally_shows(const struct class_sum *sum)
{
	return sum->calls > 0 || sum->mode != MODE_TRACE;
}

static uint64_t recorded(const struct class_sum *sum)
{
	return sum->calls > sum->skipped ? sum->calls - sum->skipped : 0;
}

static void print_line(const struct class_sum *sum, const char *indent, FILE *out)
{
	char name[CLASS_TEXT], calls[UNIT_TEXT], bytes[UNIT_TEXT], kept[UNIT_TEXT];
	char skipped[UNIT_TEXT], time[UNIT_TEXT];

	fprintf(out, "%s%-20s %-6s %9u %15s %12s %15s %15s", indent, class_name(sum, name),
		segment_mode_name(sum->mode), sum->processes, unit_count(calls, sum->calls),
		unit_bytes(bytes, sum->bytes), unit_count(kept, recorded(sum)),
		unit_count(skipped, sum->skipped));
	if (sum->time_ns)
		fprintf(out, "  %s in them", unit_duration(time, sum->time_ns));
	fputc('\n', out);
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

	for (size_t i = 0; i < n; i++) {
		if (tally_shows(classes_at(classes, i)))
			list[shown++] = classes_at(classes, i);
	}
	qsort(list, shown, sizeof(*list), compare_calls);
	if (shown)
		fprintf(out, "%s%-20s %-6s %9s %15s %12s %15s %15s\n", indent, "class", "mode",
			"processes", "calls", "bytes", "recorded", "not recorded");
	for (size_t i = 0; i < shown && (!most || i < most); i++)
		print_line(list[i], indent, out);
	if (most && shown > most)
		fprintf(out, "%sand %zu more (%s)\n", indent, shown - most, how);
	free(list);
}

void tally_print_fate(const struct fate *h, const char *indent, FILE *out)
{
	char count[UNIT_TEXT];

	if (!h->written)
		return;
	fprintf(out, "%s%s events were recorded:", indent, unit_count(count, h->written));
	fprintf(out, " %s are there", unit_count(count, h->held));
	if (fate_overwritten(h))
		fprintf(out, ", %s were overwritten", unit_count(count, fate_overwritten(h)));
	if (h->discarded)
		fprintf(out, ", %s were discarded", unit_count(count, h->discarded));
	if (h->lost)
		fprintf(out, ", %s are lost: no element had room (run --threads, --reserve)",
			unit_count(count, h->lost));
	fputc('\n', out);
}

void tally_fate_json(const struct fate *h, json_t *object)
{
	json_object_update_new(object,
			       json_pack("{s:I,s:I,s:I,s:I,s:I}", "written", (json_int_t)h->written,
					 "held", (json_int_t)h->held, "overwritten",
					 (json_int_t)fate_overwritten(h), "discarded",
					 (json_int_t)h->discarded, "lost", (json_int_t)h->lost));
}

json_t *tally_class_json(const struct class_sum *sum)
{
	char name[CLASS_TEXT];

	return json_pack("{s:s,s:s,s:I,s:b,s:s,s:i,s:I,s:I,s:I,s:I,s:I}", "class",
			 class_name(sum, name), "group", channel_name(sum->channel), "comm",
			 (json_int_t)sum->comm, "world", (int)sum->world, "mode",
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
