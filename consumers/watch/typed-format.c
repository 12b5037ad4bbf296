/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes tuples of programs' own elements, and figures of their fields. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/field-words.h"
#include "consumers/cli/json.h"
#include "consumers/cli/words.h"
#include "consumers/watch/events.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

/* The figure that the view asks for. */
static double figure_value(const struct evspace_figure *f)
{
	return strcmp(f->fold, "count") == 0  ? (double)f->count
	       : strcmp(f->fold, "sum") == 0  ? f->sum
	       : strcmp(f->fold, "min") == 0  ? f->min
	       : strcmp(f->fold, "max") == 0  ? f->max
	       : strcmp(f->fold, "mean") == 0 ? f->mean
					      : f->variance;
}

/* "15:04:05.123456  /local/vm/rank3/t0/element:residual #7 iteration=7 residual=0.5" */
void typed_text(const struct evspace_typed *t, size_t width, FILE *out)
{
	struct fields fields;
	char clock[32], *line;
	size_t bytes;
	FILE *to = open_memstream(&line, &bytes);

	if (!to)
		abort();
	words_clock(clock, sizeof(clock), t->time_ns, 6);
	fprintf(to, "%s  %s", t->time_ns ? clock : "-", t->name);
	if (t->number != UINT64_MAX)
		fprintf(to, " #%" PRIu64, t->number);
	if (fields_parse(&fields, t->fields, NULL) == 0)
		field_words_print(&fields, t->tuple, to);
	if (fclose(to) == EOF)
		abort();
	table_wrap(out, line, width);
	free(line);
}

void typed_json(const struct evspace_typed *t, size_t width, FILE *out)
{
	struct fields fields;

	(void)width;
	if (fields_parse(&fields, t->fields, NULL) < 0)
		return;
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "element", "name",
			     json_text(t->name), "rank", json_process(t->rank), "number",
			     t->number == UINT64_MAX ? json_null() : json_count(t->number),
			     "time_ns", json_time(t->time_ns), "error_ns", json_figure(t->error_ns),
			     "fields", field_words_json(&fields, t->tuple)),
		   out);
}

/* CSV has no columns for them. */
void typed_none(const struct evspace_typed *t, size_t width, FILE *out)
{
	(void)t;
	(void)width;
	(void)out;
}

void figure_text_write(const struct evspace_figure *f, size_t width, FILE *out)
{
	char n[UNIT_TEXT];
	char *line =
		memory_format("%-30s %s of field %s %.6g of %s value%s", f->name, f->fold, f->field,
			      figure_value(f), unit_count(n, f->count), plural(f->count, "s"));

	table_wrap(out, line, width);
	free(line);
}

void figure_json_write(const struct evspace_figure *f, size_t width, FILE *out)
{
	(void)width;
	json_print(json_pack("{s:s,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "figure",
			     "name", json_text(f->name), "field", json_text(f->field), "fold",
			     f->fold, "value", json_number(figure_value(f)), "count",
			     json_count(f->count), "sum", json_number(f->sum), "min",
			     json_number(f->min), "max", json_number(f->max), "mean",
			     json_number(f->mean), "variance", json_number(f->variance)),
		   out);
}

void figure_csv_write(const struct evspace_figure *f, size_t width, FILE *out)
{
	(void)width;
	words_csv(out, f->name);
	putc(',', out);
	words_csv(out, f->field);
	fprintf(out, ",%s,%.17g,%" PRIu64 "\n", f->fold, figure_value(f), f->count);
}
