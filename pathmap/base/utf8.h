/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters of UTF-8 text (RFC 3629): their length, and whether they control a terminal. */
#ifndef EVSPACE_UTF8_H
#define EVSPACE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes of the character at @text, of which @left bytes exist, or 0 if it is not UTF-8. */
size_t utf8_length(const char *text, size_t left);

/** Is the character of @length bytes at @text a control character (C0, DEL, C1), or one that has
 * what is behind it shown in another order (U+202A to 202E, 2066 to 2069)? */
bool utf8_is_control(const char *text, size_t length);

/** Has it such ones, or bytes that are not UTF-8? */
bool utf8_has_controls(const char *text);

/** Replace bytes that are not UTF-8, and control characters, by question marks. */
void utf8_clean(char *text);

/** Room for a quoted text. */
#define UTF8_QUOTED 72

/** Write a peer's text in double quotes, with none inside; longer texts than 64 bytes are cut,
 * with "...". Returns @quoted. */
const char *utf8_quote(const char *text, char quoted[UTF8_QUOTED]);

#endif
