/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of texts, printed with its columns aligned. */
#ifndef EVSPACE_TABLE_H
#define EVSPACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** How a column is written, and what of it gives way where a line is wider than its terminal. */
struct table_column {
	int pad;       /* where nothing gives way: as printf's %*s; 0: as wide as its widest text */
	unsigned gap;  /* blanks before it; 0: two */
	unsigned drop; /* the column is left out, those of 1 first; 0: it stays */
	size_t least;  /* its texts are cut to no fewer characters than that; 0: they are not */
	unsigned parts; /* they are cut from the front, and so many last parts of a path stay */
	bool wraps;	/* texts that are cut go on in the row's next line instead */
};

/** Rows of cells; cells that a row lacks are empty. */
struct table {
	size_t n_columns;
	const struct table_column *columns; /* the caller's; NULL: all stay as they are */
	struct table_cell *cells;	    /* row by row */
	size_t n_cells;
};

/** An empty table. table_fini() frees. */
void table_init(struct table *table, size_t n_columns);

/** The same with a first row of @n_columns @heads, and @columns, which are the caller's. */
void table_heads(struct table *table, const struct table_column *columns, const char *const *heads,
		 size_t n_columns);

/** Free what the table owns. */
void table_fini(struct table *table);

/** Add a cell to the last row, or, when that is full, begin a row with it. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** End the last row, and add a row that is one text over all columns. */
void table_line(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The table's lines, columns aligned by characters, none with blanks at its end, each with its
 * newline, and zero behind them. They have at most @width characters, as far as the columns allow:
 * texts are cut, after the columns of least use are left out where that is not enough; lines over
 * all columns, and texts that wrap, but for those of the first column, go on in lines that begin
 * with a blank. 0: any width. The caller's to free(). */
char *table_text(const struct table *table, size_t width);

/** How many bytes of @line, which has no newline, a line of @width characters takes, broken at a
 * blank if there is one. 0 is any width. */
size_t table_break(const char *line, size_t width);

/** The @path in @width characters, cut from the front; its last @parts stay, even if they are
 * longer. The caller's to free(). */
char *table_tail(const char *path, size_t width, unsigned parts);

/** How many characters fit on a line of @out: the terminal's, or those that COLUMNS says, 80 if
 * nobody says any, never under 40; 0, any number, where it is no terminal. */
size_t table_width(FILE *out);

/** Print the lines, no wider than @out. */
void table_print(const struct table *table, FILE *out);

/** Print a line of text, broken at blanks where it has more than @width characters; it goes on in
 * lines that begin with two blanks more. 0 is any width. */
void table_wrap(FILE *out, const char *text, size_t width);

/** The same of a formatted text, where it is wider than @out. */
void table_say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same of a line without its newline, which @write writes piece by piece. */
void table_say_of(FILE *out, void (*write)(FILE *line, const void *arg), const void *arg);

#endif
