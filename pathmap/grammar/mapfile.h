/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of one map file, read whole and checked to be text; diagnostics, collected in any
 * order and shown in the order of the text. */
#ifndef EVSPACE_MAPFILE_H
#define EVSPACE_MAPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pathmap/base/error.h"

struct diagnostics;

/** The largest map file, in bytes. */
#define MAPFILE_MAX (1u << 20)

/** A map file's text. Diagnostics refer to it: it must live until they are printed. */
struct mapfile {
	char *file; /* its path, for diagnostics */
	char *text; /* zero-terminated */
	size_t length;
	size_t *lines; /* offsets of line starts */
	size_t n_lines;
	bool usable;   /* it could be read and is text */
	bool fragment; /* its last statement needs no `;` */
};

/** Read DIR/NAME. A file that cannot be read, is too large, is not UTF-8 or has control
 * characters gets one diagnostic and is not usable. */
void mapfile_read(struct mapfile *mapfile, const char *dir, const char *name,
		  struct diagnostics *diagnostics);

/** The same for @length bytes at @text, which are copied. */
void mapfile_set(struct mapfile *mapfile, const char *file, const char *text, size_t length,
		 struct diagnostics *diagnostics);

/** Free what it owns. */
void mapfile_fini(struct mapfile *mapfile);

/** The line of @offset, from 1. */
size_t mapfile_line(const struct mapfile *mapfile, size_t offset);

/** Most diagnostics that are kept and shown; more are only counted. */
#define COMPLAINTS_SHOWN 100

/** One diagnostic. */
struct diagnostic {
	const struct mapfile *source;
	size_t line, column; /* from 1; 0: about the whole file */
	size_t offset;	     /* into the text */
	size_t order;	     /* of being added */
	char *text;
};

/** All diagnostics. Zero-initialise; diagnostics_fini() frees. */
struct diagnostics {
	struct diagnostic *items;
	size_t kept;
	size_t total;
};

/** Add a diagnostic about what is at @offset. Its text says what was found; what would be right. */
void complain(struct diagnostics *diagnostics, const struct mapfile *source, size_t offset,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Add a diagnostic about the whole file. */
void complain_file(struct diagnostics *diagnostics, const struct mapfile *source,
		   const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Sort them by file (the sources are one array) and position, those about whole files first. */
void diagnostics_sort(struct diagnostics *diagnostics);

/** Write the first of them, which must exist, to @e: "FILE:LINE:COLUMN: TEXT". Returns -1 with
 * EINVAL. */
int diagnostics_error(struct diagnostics *diagnostics, struct error *e);

/** Print them: "FILE:LINE:COLUMN: TEXT", with the line and a caret under it. */
void diagnostics_print(const struct diagnostics *diagnostics, FILE *out);

/** Print line @line of @text, cut around character @column (both from 1), and a caret under that.
 */
void excerpt_print(const char *text, size_t length, size_t line, size_t column, FILE *out);

/** Free all diagnostics. */
void diagnostics_fini(struct diagnostics *diagnostics);

#endif
