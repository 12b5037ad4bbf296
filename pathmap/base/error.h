/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a failure, passed from where it is known to where it is shown (CONTRIBUTING.md). */
#ifndef EVSPACE_ERROR_H
#define EVSPACE_ERROR_H

#include <stdbool.h>

/** The text of one failure: what happened, where, and what would be right. Plain data. */
struct error {
	char text[1024];
};

/**
 * Put a formatted text into @e, cut at its size and cleaned (utf8_clean()): it is one line,
 * whatever was quoted in it. @e may be NULL: the text is then dropped.
 * Preserves errno. Returns -1 always, so that `return errorf(e, ...)` reads well.
 */
int errorf(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Put "prefix: " in front of the text that @e holds already. @e may be NULL. Preserves errno.
 * Returns -1 always.
 */
int error_prefix(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Is @number, an errno, of a disk that has no room, or of what is on it: damaged (EPROTO), or not
 * to be read? Other faults of files are those of who has named them. */
bool error_is_disk(int number);

#endif
