/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads tables of event classes: columns by name, each value checked where it stands. */
#include "consumers/perturb/plan-table.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/utf8.h"

/* So that sums of products are finite. */
#define NUMBER_MOST 1e18

#define COLUMNS_MAX 10u

enum column {
	CLASS,
	FREQUENCY,
	WEIGHT,
	DUTY,
	T_TRACE,
	T_DETECT,
	T_SAMPLING,
	MINIMUM,
	INTERRUPTED,
	DEDUCED_FROM
};

static const char *const column_names[COLUMNS_MAX] = {
	[CLASS] = "class",
	[FREQUENCY] = "frequency",
	[WEIGHT] = "weight",
	[DUTY] = "duty",
	[T_TRACE] = "t_trace",
	[T_DETECT] = "t_detect",
	[T_SAMPLING] = "t_sampling",
	[MINIMUM] = "minimum",
	[INTERRUPTED] = "interrupted",
	[DEDUCED_FROM] = "deduced_from",
};

/* A class of the table, by name. */
struct class_row {
	UT_hash_handle hh;
	struct event_class class;
	unsigned line;
	char *deduced_from; /* NULL: from nothing */
	bool settled;	    /* it is known from what it is deduced in the end */
	char name[];
};

struct reading {
	const char *file;
	unsigned line;
	double t_trace, t_detect;
	bool said[COLUMNS_MAX];
	enum column columns[COLUMNS_MAX];
	size_t n_columns;	/* 0: the first line is still to come */
	struct class_row *rows; /* in their order */
};

int plan_number(const char *text, const char *what, double least, double most, double *number,
		struct error *e)
{
	char quoted[UTF8_QUOTED], range[48], *end;
	double n;

	if (most < DBL_MAX)
		snprintf(range, sizeof(range), "from %g to %g", least, most);
	else
		snprintf(range, sizeof(range), "%s", least > 0 ? "above 0" : "from 0 on");
	errno = 0;
	n = strtod(text, &end);
	if (end == text || *end || isnan(n))
		return errorf(e, "the %s %s is no number; write one %s", what,
			      utf8_quote(text, quoted), range);
	if (n < least || n > fmin(most, NUMBER_MOST)) {
		if (most < DBL_MAX)
			return errorf(e, "the %s %s is not %s", what, utf8_quote(text, quoted),
				      range);
		return errorf(e, "the %s %s is %s", what, utf8_quote(text, quoted),
			      n > least	  ? "too large"
			      : n > 0	  ? "too small"
			      : least > 0 ? "not above 0"
					  : "below 0");
	}
	*number = n;
	return 0;
}

int plan_seconds(const char *text, const char *what, double *seconds, struct error *e)
{
	uint64_t ns;

	if (text[strcspn(text, "msuhd")] == '\0')
		return plan_number(text, what, 1 / NUMBER_MOST, DBL_MAX, seconds, e);
	if (quantity_duration(text, 0, &ns, e))
		return error_prefix(e, "%s", what);
	if (ns == 0)
		return errorf(e, "the %s is not above 0", what);
	*seconds = (double)ns / 1e9;
	return 0;
}

/* The first line: which column is where. */
static int reading_heads(struct reading *r, char *const *words, size_t n, struct error *e)
{
	char quoted[UTF8_QUOTED];

	for (size_t i = 0; i < n; i++) {
		enum column column = 0;

		while (column < COLUMNS_MAX && strcmp(words[i], column_names[column]))
			column++;
		if (column == COLUMNS_MAX)
			return errorf(
				e,
				"%s is no column: they are class, frequency, weight, duty, and "
				"perhaps t_trace, t_detect, t_sampling, minimum, interrupted, "
				"deduced_from",
				utf8_quote(words[i], quoted));
		if (r->said[column])
			return errorf(e, "there are two columns %s", column_names[column]);
		r->said[column] = true;
		r->columns[i] = column;
	}
	for (enum column column = CLASS; column <= DUTY; column++)
		if (!r->said[column])
			return errorf(e,
				      "the first line names no column %s: it begins with, for "
				      "instance, `class frequency weight duty`",
				      column_names[column]);
	r->n_columns = n;
	return 0;
}

/* One value of a class. Its name has been taken. */
static int row_take(struct class_row *row, enum column column, const char *word,
		    double *interrupted, struct error *e)
{
	struct event_class *c = &row->class;
	struct error why;

	switch (column) {
	case CLASS:
		return 0;
	case FREQUENCY:
		if (plan_number(word, "frequency", 1 / NUMBER_MOST, DBL_MAX, &c->frequency, &why))
			return errorf(e, "%s%s", why.text,
				      strcmp(word, "0") ? ""
							: "; leave out a class without events");
		return 0;
	case WEIGHT:
		return plan_number(word, "weight", 0, DBL_MAX, &c->weight, e);
	case DUTY:
		return plan_number(word, "duty (event time over period)", 0, 1, &c->duty, e);
	case T_TRACE:
		return plan_seconds(word, "t_trace", &c->t_trace, e);
	case T_DETECT:
		c->t_detect = 0;
		return strcmp(word, "0") ? plan_seconds(word, "t_detect", &c->t_detect, e) : 0;
	case T_SAMPLING:
		return strcmp(word, "0") ? plan_seconds(word, "t_sampling", &c->t_sampling, e) : 0;
	case MINIMUM:
		return plan_number(word, "minimum", 0, DBL_MAX, &c->minimum, e);
	case INTERRUPTED:
		return plan_number(word, "interrupted", 0, DBL_MAX, interrupted, e);
	case DEDUCED_FROM:
		row->deduced_from = strcmp(word, "-") ? memory_copy(word) : NULL;
		return 0;
	}
	return 0;
}

/* A line of a class. */
static int reading_row(struct reading *r, char *const *words, size_t n, struct error *e)
{
	const char *name = "";
	char quoted[UTF8_QUOTED];
	double interrupted = 0;
	struct class_row *row;
	size_t length;

	if (n != r->n_columns)
		return errorf(e, "there are %zu words, where the first line has %zu", n,
			      r->n_columns);
	for (size_t i = 0; i < n; i++)
		if (r->columns[i] == CLASS)
			name = words[i];
	HASH_FIND_STR(r->rows, name, row);
	if (row)
		return errorf(e, "class %s is in line %u already", utf8_quote(name, quoted),
			      row->line);
	if (HASH_COUNT(r->rows) == PLAN_CLASSES_MAX)
		return errorf(e, "there are more than %u classes", PLAN_CLASSES_MAX);
	length = strlen(name);
	row = memory_new(1, sizeof(*row) + length + 1);
	memcpy(row->name, name, length);
	row->line = r->line;
	row->class.t_trace = r->t_trace;
	row->class.t_detect = r->t_detect;
	HASH_ADD_STR(r->rows, name, row);
	for (size_t i = 0; i < n; i++)
		if (row_take(row, r->columns[i], words[i], &interrupted, e))
			return error_prefix(e, "class %s", utf8_quote(name, quoted));
	row->class.frequency *= 1 + interrupted;
	return 0;
}

/* @ends: there is nothing behind it, so that it may lack a line's end. */
static int reading_line(struct reading *r, char *line, bool ends, struct error *e)
{
	char *words[COLUMNS_MAX], *rest = NULL;
	size_t n = 0;

	size_t length = strlen(line);

	if (length == PLAN_LINE_MAX)
		return errorf(e, "the line has more than %u bytes", PLAN_LINE_MAX - 1);
	if (!ends && (length == 0 || line[length - 1] != '\n'))
		return errorf(e, "there is a byte 0");
	line[strcspn(line, "#")] = '\0';
	for (char *word = strtok_r(line, " \t\r\n", &rest); word;
	     word = strtok_r(NULL, " \t\r\n", &rest)) {
		if (n == COLUMNS_MAX)
			return errorf(e, "there are more than %u words", COLUMNS_MAX);
		words[n++] = word;
	}
	if (n == 0)
		return 0;
	return r->n_columns == 0 ? reading_heads(r, words, n, e) : reading_row(r, words, n, e);
}

/* Does what a class is deduced from exist, and is it in the end not deduced itself? */
static int reading_deduced(struct reading *r, struct class_row *row, struct error *e)
{
	struct class_row *from = row;
	char quoted[UTF8_QUOTED];

	for (unsigned steps = 0; from->deduced_from && !from->settled; steps++) {
		const char *name = from->deduced_from;

		HASH_FIND_STR(r->rows, name, from);
		r->line = row->line;
		if (!from)
			return errorf(e, "there is no class %s to deduce from",
				      utf8_quote(name, quoted));
		if (steps > HASH_COUNT(r->rows))
			return errorf(e, "class %s is in the end deduced from itself",
				      utf8_quote(row->name, quoted));
	}
	/* those on the way need not go it again */
	for (from = row; from->deduced_from && !from->settled;) {
		const char *name = from->deduced_from;

		from->settled = true;
		HASH_FIND_STR(r->rows, name, from);
	}
	return 0;
}

/* Hand the classes over to the table. */
static int reading_end(struct reading *r, struct plan_table *table, struct error *e)
{
	size_t n = HASH_COUNT(r->rows);

	if (n == 0)
		return errorf(e, "there is no class in it");
	table->classes = memory_new(n, sizeof(*table->classes));
	table->names = memory_new(n, sizeof(*table->names));
	table->deduced = memory_new(n, sizeof(*table->deduced));
	table->said_times = r->said[T_TRACE] || r->said[T_DETECT] || r->said[T_SAMPLING];
	for (struct class_row *row = r->rows; row; row = row->hh.next) {
		if (reading_deduced(r, row, e))
			return -1;
		if (row->deduced_from) {
			table->deduced[table->n_deduced++] = memory_copy(row->name);
			continue;
		}
		table->classes[table->n] = row->class;
		table->names[table->n++] = memory_copy(row->name);
	}
	return 0;
}

static void reading_fini(struct reading *r)
{
	struct class_row *row, *next;

	HASH_ITER(hh, r->rows, row, next)
	{
		HASH_DEL(r->rows, row);
		free(row->deduced_from);
		free(row);
	}
}

int plan_table_read(struct plan_table *table, FILE *in, const char *name, double t_trace,
		    double t_detect, struct error *e)
{
	struct reading r = {.t_trace = t_trace, .t_detect = t_detect};
	char line[PLAN_LINE_MAX + 1];
	int failed = 0;

	*table = (struct plan_table){0};
	while (!failed && fgets(line, sizeof(line), in)) {
		r.line++;
		failed = reading_line(&r, line, feof(in), e);
	}
	if (!failed && ferror(in))
		failed = errorf(e, "cannot be read: %s", strerror(errno));
	if (!failed)
		failed = reading_end(&r, table, e);
	if (failed)
		error_prefix(e, "%s:%u", name, r.line);
	reading_fini(&r);
	return failed;
}

double plan_table_sampling(const struct plan_table *table, double others)
{
	double hit = 0, seconds = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct event_class *c = &table->classes[i];

		hit += c->t_sampling > 0 ? c->duty : 0;
		seconds += c->t_sampling > 0 ? c->duty * c->t_sampling : 0;
	}
	/* of several threads a probe may hit more than one class */
	return hit < 1 ? seconds + (1 - hit) * others : seconds / hit;
}

void plan_table_fini(struct plan_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->names[i]);
	for (size_t i = 0; i < table->n_deduced; i++)
		free(table->deduced[i]);
	for (size_t i = 0; i < table->n_counted; i++)
		free(table->counted[i]);
	free(table->names);
	free(table->deduced);
	free(table->counted);
	free(table->classes);
}
