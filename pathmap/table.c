/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of texts, printed with its columns aligned. */
#include "pathmap/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"

void table_init(struct table *table, size_t n_columns)
{
	*table = (struct table){.n_columns = n_columns};
}

void table_fini(struct table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	*table = (struct table){0};
}

void table_cell(struct table *table, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	table->cells = memory_room(table->cells, table->n_cells, sizeof(*table->cells));
	table->cells[table->n_cells++] = text;
}

/* Characters of UTF-8 text: all bytes but those that continue one. */
static size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

void table_print(const struct table *table, FILE *out)
{
	size_t *widths = memory_new(table->n_columns, sizeof(*widths));
	size_t owed = 0; /* blanks that are printed if something follows on the line */

	for (size_t i = 0; i < table->n_cells; i++) {
		size_t width = text_width(table->cells[i]);

		if (width > widths[i % table->n_columns])
			widths[i % table->n_columns] = width;
	}
	for (size_t i = 0; i < table->n_cells; i++) {
		const char *cell = table->cells[i];

		if (*cell != '\0') {
			fprintf(out, "%*s%s", (int)owed, "", cell);
			owed = 0;
		}
		owed += widths[i % table->n_columns] - text_width(cell) + 2;
		if ((i + 1) % table->n_columns == 0 || i + 1 == table->n_cells) {
			fputc('\n', out);
			owed = 0;
		}
	}
	free(widths);
}
