/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of one map file, and what is complained of in it, shown with line, column and caret. */
#ifndef EVSPACE_SOURCE_H
#define EVSPACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** The largest map file, in bytes. */
#define SOURCE_MAX (1u << 20)

/** The most complaints that are kept and shown; more are only counted. */
#define COMPLAINTS_SHOWN 100

/** A map file's text. Complaints refer to it: it has to live until they are printed. */
struct source {
	char *file; /* its path, as complaints name it */
	char *text; /* zero-terminated */
	size_t length;
	bool usable; /* it could be read and is text */
};

/** One complaint; without a place it is about the file. */
struct complaint {
	const struct source *source;
	bool has_place;
	size_t offset; /* into the text */
	size_t order;  /* in which it was added */
	char *text;
};

/** Everything complained of. Zero-initialise; complaints_fini() frees. */
struct complaints {
	struct complaint *items;
	size_t kept;
	size_t total;
};

/**
 * Read DIR/NAME. A file that cannot be read, is too large, is not UTF-8 or holds control characters
 * is complained of once and left not usable.
 */
void source_read(struct source *source, const char *dir, const char *name,
		 struct complaints *complaints);

/** The same of a text in memory, @length bytes at @text, copied. */
void source_set(struct source *source, const char *file, const char *text, size_t length,
		struct complaints *complaints);

/** Free what the source owns. */
void source_fini(struct source *source);

/** The line of @offset, from 1. */
size_t source_line(const struct source *source, size_t offset);

/** Complain of what is at @offset. Each text says what was found; what would be right. */
void complain(struct complaints *complaints, const struct source *source, size_t offset,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Complain of the file as a whole. */
void complain_file(struct complaints *complaints, const struct source *source, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));

/**
 * Print the complaints to @out, those about whole files first, then by file and place:
 * "FILE:LINE:COLUMN: TEXT", with the line and a caret under it. Columns count characters from 1.
 * @sources is the array that all of them point into: its order is the order of files.
 */
void complaints_print(struct complaints *complaints, FILE *out);

/** Free all complaints. */
void complaints_fini(struct complaints *complaints);

#endif
