/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of texts with aligned columns. */
#include "pathmap/base/table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pathmap/base/memory.h"

/* Widths of a terminal in characters. */
#define WIDTH_MIN   40
#define WIDTH_USUAL 80
#define WIDTH_MAX   10000

struct table_cell {
	char *text;
	bool spans; /* all columns */
};

void table_init(struct table *table, size_t n_columns)
{
	*table = (struct table){.n_columns = n_columns};
}

void table_fini(struct table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i].text);
	free(table->cells);
	*table = (struct table){0};
}

static char *text_new(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		abort();
	return text;
}

static void cell_add(struct table *table, char *text, bool spans)
{
	table->cells = memory_room(table->cells, table->n_cells, sizeof(*table->cells));
	table->cells[table->n_cells++] = (struct table_cell){text, spans};
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cell_add(table, text_new(format, args), false);
	va_end(args);
}

void table_heads(struct table *table, const struct table_column *columns, const char *const *heads,
		 size_t n_columns)
{
	table_init(table, n_columns);
	table->columns = columns;
	for (size_t i = 0; i < n_columns; i++)
		table_cell(table, "%s", heads[i]);
}

static void row_end(struct table *table)
{
	while (table->n_cells % table->n_columns != 0)
		cell_add(table, memory_copy(""), false);
}

void table_line(struct table *table, const char *format, ...)
{
	va_list args;

	row_end(table);
	va_start(args, format);
	cell_add(table, text_new(format, args), true);
	va_end(args);
	row_end(table);
}

/* Characters of UTF-8 text: all bytes but those that continue one. */
static size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* The rest of the text after @characters. */
static const char *text_behind(const char *text, size_t characters)
{
	while (*text != '\0' && characters-- > 0)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	return text;
}

/* ---- fitting the width ---- */

#define GAP	 2
#define DOTS	 ".."
#define LEFT_OUT SIZE_MAX /* as a width */

static const struct table_column *column_at(const struct table *table, size_t i)
{
	static const struct table_column plain;

	return table->columns != NULL ? &table->columns[i] : &plain;
}

static size_t column_gap(const struct table *table, size_t i)
{
	const struct table_column *column = column_at(table, i);

	return i == 0 ? 0 : column->gap > 0 ? column->gap : GAP;
}

static size_t line_width(const struct table *table, const size_t *widths)
{
	size_t sum = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		if (widths[i] != LEFT_OUT)
			sum += column_gap(table, i) + widths[i];
	return sum;
}

/* Width of the last @parts of the path. */
static size_t text_least(const char *text, unsigned parts)
{
	const char *from = text + strlen(text);

	while (from > text && parts > 0)
		parts -= *--from == '/';
	return from > text ? strlen(DOTS) + text_width(from) : text_width(text);
}

/* The least width of each column. */
static size_t *table_least(const struct table *table, const size_t *widths)
{
	size_t n = table->n_columns, *least = memory_new(n, sizeof(*least));

	for (size_t i = 0; i < table->n_cells; i++) {
		unsigned parts = column_at(table, i % n)->parts;
		size_t have = parts > 0 ? text_least(table->cells[i].text, parts) : 0;

		if (have > least[i % n] && !table->cells[i - i % n].spans)
			least[i % n] = have;
	}
	for (size_t i = 0; i < n; i++) {
		size_t said = column_at(table, i)->least;

		least[i] = said > least[i] ? said : least[i];
		if (least[i] == 0 || least[i] > widths[i])
			least[i] = widths[i];
	}
	return least;
}

/* The column to leave out next; n_columns: none. */
static size_t column_least_used(const struct table *table, const size_t *widths)
{
	size_t found = table->n_columns;

	for (size_t i = 0; i < table->n_columns; i++)
		if (widths[i] != LEFT_OUT && table->columns[i].drop > 0 &&
		    (found == table->n_columns ||
		     table->columns[i].drop < table->columns[found].drop))
			found = i;
	return found;
}

/* Narrow the widest column that may be narrowed, until the line fits. */
static void widths_narrow(const struct table *table, size_t *widths, const size_t *least,
			  size_t width)
{
	size_t have = line_width(table, widths), n = table->n_columns;

	for (; have > width; have--) {
		size_t widest = n;

		for (size_t i = 0; i < n; i++)
			if (widths[i] != LEFT_OUT && widths[i] > least[i] &&
			    (widest == n || widths[i] > widths[widest]))
				widest = i;
		if (widest == n)
			return;
		widths[widest]--;
	}
}

static void widths_fit(const struct table *table, size_t *widths, size_t width)
{
	size_t *least = table_least(table, widths), column;

	while (line_width(table, least) > width) {
		column = column_least_used(table, widths);
		if (column == table->n_columns)
			break;
		widths[column] = least[column] = LEFT_OUT;
	}
	widths_narrow(table, widths, least, width);
	free(least);
}

static size_t *table_widths(const struct table *table, size_t width)
{
	size_t n = table->n_columns, *widths = memory_new(n, sizeof(*widths));

	for (size_t i = 0; i < table->n_cells; i++) {
		size_t have = text_width(table->cells[i].text);

		if (have > widths[i % n] && !table->cells[i - i % n].spans)
			widths[i % n] = have;
	}
	for (size_t i = 0; i < n && width == 0; i++)
		if ((size_t)abs(column_at(table, i)->pad) > widths[i])
			widths[i] = (size_t)abs(column_at(table, i)->pad);
	if (width > 0 && table->columns != NULL)
		widths_fit(table, widths, width);
	return widths;
}

/* ---- lines ---- */

size_t table_break(const char *line, size_t width)
{
	size_t all = strlen(line), length, room;

	if (width == 0 || text_width(line) <= width)
		return all;
	room = length = (size_t)(text_behind(line, width) - line);
	while (length > 0 && line[length] != ' ')
		length--;
	/* do not break in leading blanks */
	return strspn(line, " ") < length ? length : room;
}

void table_wrap(FILE *out, const char *text, size_t width)
{
	size_t indent = strspn(text, " ") + GAP, length = table_break(text, width);

	fprintf(out, "%.*s\n", (int)length, text);
	width = width > indent ? width - indent : 1;
	for (text += length; *text != '\0'; text += length) {
		text += *text == ' ';
		length = table_break(text, width);
		fprintf(out, "%*s%.*s\n", (int)indent, "", (int)length, text);
	}
}

char *table_tail(const char *path, size_t width, unsigned parts)
{
	size_t have = text_width(path), least = text_least(path, parts);

	width = width > least ? width : least;
	if (have <= width)
		return memory_copy(path);
	return memory_format(DOTS "%s", text_behind(path, have + strlen(DOTS) - width));
}

/* The cell's text in at most @width characters. */
static char *cell_text(const struct table_column *column, const char *cell, size_t width)
{
	size_t keep = width > strlen(DOTS) ? width - strlen(DOTS) : 0;

	if (column->wraps || text_width(cell) <= width)
		return memory_copy(cell);
	if (column->parts > 0)
		return table_tail(cell, width, column->parts);
	return memory_format("%.*s" DOTS, (int)(text_behind(cell, keep) - cell), cell);
}

/* Write the row's next line, and move each text past what was written. Returns whether there is
 * more. */
static bool row_line(const struct table *table, char **texts, size_t n, const size_t *widths,
		     bool fits, FILE *out)
{
	size_t owed = 0; /* blanks to print if something follows */
	bool more = false;

	for (size_t i = 0; i < n; i++) {
		const struct table_column *column = column_at(table, i);
		size_t length, have, fill;

		if (widths[i] == LEFT_OUT)
			continue;
		length = table_break(texts[i], fits && column->wraps ? widths[i] : 0);
		have = text_width(texts[i]) - text_width(texts[i] + length);
		fill = have < widths[i] ? widths[i] - have : 0;
		owed += column_gap(table, i) + (column->pad > 0 ? fill : 0);
		if (have > 0) {
			fprintf(out, "%*s%.*s", (int)owed, "", (int)length, texts[i]);
			owed = 0;
		}
		owed += column->pad > 0 ? 0 : fill;
		texts[i] += length;
		texts[i] += *texts[i] == ' ';
		more = more || *texts[i] != '\0';
	}
	fputc('\n', out);
	return more;
}

/* A row of cells. */
static void row_put(const struct table *table, const struct table_cell *row, size_t n,
		    const size_t *widths, bool fits, FILE *out)
{
	char **texts = memory_new(2 * n, sizeof(*texts)), **whole = texts + n;

	for (size_t i = 0; i < n; i++) {
		bool cut = fits && widths[i] != LEFT_OUT;

		whole[i] = texts[i] = cut ? cell_text(column_at(table, i), row[i].text, widths[i])
					  : memory_copy(row[i].text);
	}
	while (row_line(table, texts, n, widths, fits, out))
		;
	for (size_t i = 0; i < n; i++)
		free(whole[i]);
	free(texts);
}

char *table_text(const struct table *table, size_t width)
{
	size_t *widths = table_widths(table, width), size, n = table->n_columns;
	bool fits = width > 0 && table->columns != NULL;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		abort();
	for (size_t i = 0; i < table->n_cells; i += n) {
		const struct table_cell *row = &table->cells[i];

		if (row->spans)
			table_wrap(out, row->text, width);
		else
			row_put(table, row, n < table->n_cells - i ? n : table->n_cells - i, widths,
				fits, out);
	}
	free(widths);
	if (fclose(out) == EOF)
		abort();
	return text;
}

size_t table_width(FILE *out)
{
	const char *said = getenv("COLUMNS");
	struct winsize size = {.ws_col = 0};
	long width;
	/* The evspace command's has a filter before it, which has no number. */
	int fd = out == stderr ? STDERR_FILENO : fileno(out);

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		width = size.ws_col;
	else
		width = said != NULL ? strtol(said, NULL, 10) : 0;
	if (width <= 0 || width > WIDTH_MAX)
		width = WIDTH_USUAL;
	return width < WIDTH_MIN ? WIDTH_MIN : (size_t)width;
}

void table_print(const struct table *table, FILE *out)
{
	char *text = table_text(table, table_width(out));

	fputs(text, out);
	free(text);
}

void table_say(FILE *out, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = text_new(format, args);
	va_end(args);
	table_wrap(out, text, table_width(out));
	free(text);
}

void table_say_of(FILE *out, void (*write)(FILE *line, const void *arg), const void *arg)
{
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	if (line == NULL)
		abort();
	write(line, arg);
	if (fclose(line) == EOF)
		abort();
	table_wrap(out, text, table_width(out));
	free(text);
}
