/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong in map files: collected in any order, shown in the order of the text. */
#ifndef EVSPACE_DIAGNOSTIC_H
#define EVSPACE_DIAGNOSTIC_H

#include <stddef.h>
#include <stdio.h>

#include "pathmap/base/error.h"
#include "pathmap/grammar/mapfile.h"

/** The most diagnostics that are kept and shown; more are only counted. */
#define COMPLAINTS_SHOWN 100

/** One diagnostic. */
struct diagnostic {
	const struct mapfile *source;
	size_t line, column; /* from 1; 0: it is about the file as a whole */
	size_t offset;	     /* into the text */
	size_t order;	     /* in which it was added */
	char *text;
};

/** Everything complained of. Zero-initialise; diagnostics_fini() frees. */
struct diagnostics {
	struct diagnostic *items;
	size_t kept;
	size_t total;
};

/** Complain of what is at @offset. Each text says what was found; what would be right. */
void complain(struct diagnostics *diagnostics, const struct mapfile *source, size_t offset,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Complain of the file as a whole. */
void complain_file(struct diagnostics *diagnostics, const struct mapfile *source,
		   const char *format, ...) __attribute__((format(printf, 3, 4)));

/**
 * Put them into the order of the files (whose sources are one array) and of the text, those about
 * whole files first.
 */
void diagnostics_sort(struct diagnostics *diagnostics);

/** What is wrong first, "FILE:LINE:COLUMN: TEXT"; there is something. Returns -1 with EINVAL and
 * @e.
 */
int diagnostics_error(struct diagnostics *diagnostics, struct error *e);

/** Print them: "FILE:LINE:COLUMN: TEXT", with the line and a caret under it. */
void diagnostics_print(const struct diagnostics *diagnostics, FILE *out);

/** Free all diagnostics. */
void diagnostics_fini(struct diagnostics *diagnostics);

#endif
