/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of one map file, read whole and checked to be text. */
#ifndef EVSPACE_MAPFILE_H
#define EVSPACE_MAPFILE_H

#include <stdbool.h>
#include <stddef.h>

struct diagnostics;

/** The largest map file, in bytes. */
#define MAPFILE_MAX (1u << 20)

/** A map file's text. Diagnostics refer to it: it has to live until they are printed. */
struct mapfile {
	char *file; /* its path, as diagnostics name it */
	char *text; /* zero-terminated */
	size_t length;
	size_t *lines; /* the offsets that lines start at */
	size_t n_lines;
	bool usable; /* it could be read and is text */
};

/**
 * Read DIR/NAME. A file that cannot be read, is too large, is not UTF-8 or holds control characters
 * is complained of once and left not usable.
 */
void mapfile_read(struct mapfile *mapfile, const char *dir, const char *name,
		  struct diagnostics *diagnostics);

/** The same of a text in memory, @length bytes at @text, copied. */
void mapfile_set(struct mapfile *mapfile, const char *file, const char *text, size_t length,
		 struct diagnostics *diagnostics);

/** Free what it owns. */
void mapfile_fini(struct mapfile *mapfile);

/** The line of @offset, from 1. */
size_t mapfile_line(const struct mapfile *mapfile, size_t offset);

/** The column of @offset, from 1, in characters. */
size_t mapfile_column(const struct mapfile *mapfile, size_t offset);

#endif
