/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a failure, passed from where it is known to where it is shown (CONTRIBUTING.md). */
#ifndef EVSPACE_ERROR_H
#define EVSPACE_ERROR_H

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

#endif
