/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of texts with aligned columns. */
#ifndef EVSPACE_TABLE_H
#define EVSPACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** How a column is written, and how it is shortened if a line is wider than the terminal. */
struct table_column {
	int pad;	/* without shortening: as printf's %*s, or as wide as its widest text */
	unsigned gap;	/* blanks before it; 0: two */
	unsigned drop;	/* it may be left out, those with 1 first; 0: it stays */
	size_t least;	/* its texts are cut to this at least; 0: not cut */
	unsigned parts; /* texts are cut in front, and this many last parts of a path stay */
	bool wraps;	/* texts continue in the row's next line instead of being cut */
};

/** Rows of cells; missing cells of a row are empty. */
struct table {
	size_t n_columns;
	const struct table_column *columns; /* the caller's; NULL: none is shortened */
	struct table_cell *cells;	    /* row by row */
	size_t n_cells;
};

/** An empty table. table_fini() frees. */
void table_init(struct table *table, size_t n_columns);

/** The same with @n_columns @heads as first row, and with @columns, which must outlive it. */
void table_heads(struct table *table, const struct table_column *columns, const char *const *heads,
		 size_t n_columns);

/** Free what the table owns. */
void table_fini(struct table *table);

/** Add a cell to the last row, or to a new one if that is full. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** End the last row, and add a row of one text over all columns. */
void table_line(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * The table's lines as a string, aligned by characters, without blanks at line ends. Lines have at
 * most @width characters (0: any), as far as the columns allow: texts are cut, and if that is not
 * enough columns are left out before. Lines over all columns, and texts that wrap, continue in
 * lines that begin with a blank, but not those of the first column. The caller must free() it.
 */
char *table_text(const struct table *table, size_t width);

/** Bytes of @line, which has no newline, that fit on a line of @width characters (0: any),
 * broken at a blank if there is one. */
size_t table_break(const char *line, size_t width);

/** The @path in @width characters, cut in front; its last @parts stay, even if they are longer.
 * The caller must free() it. */
char *table_tail(const char *path, size_t width, unsigned parts);

/** Characters of a line of @out: the terminal's width, or COLUMNS, else 80, and at least 40; 0
 * (any) if it is no terminal. */
size_t table_width(FILE *out);

/** Print the lines, at most as wide as @out. */
void table_print(const struct table *table, FILE *out);

/** Print a line of text, broken at blanks if it has more than @width characters (0: any);
 * further lines are indented by two more blanks. */
void table_wrap(FILE *out, const char *text, size_t width);

/** The same for a formatted text and the width of @out. */
void table_say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same for a line without its newline that @write writes piece by piece. */
void table_say_of(FILE *out, void (*write)(FILE *line, const void *arg), const void *arg);

#endif
