/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of texts, printed with its columns aligned. */
#ifndef EVSPACE_TABLE_H
#define EVSPACE_TABLE_H

#include <stddef.h>
#include <stdio.h>

/** Rows of cells; cells that a row lacks are empty. */
struct table {
	size_t n_columns;
	char **cells; /* row by row */
	size_t n_cells;
};

/** An empty table. table_fini() frees. */
void table_init(struct table *table, size_t n_columns);

/** Free what the table owns. */
void table_fini(struct table *table);

/** Add a cell to the last row, or, when that is full, begin a row with it. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print the rows, columns aligned by characters, two blanks apart, none at the ends of lines. */
void table_print(const struct table *table, FILE *out);

#endif
