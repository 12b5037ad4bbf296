/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters of UTF-8 text (RFC 3629): where one ends, and whether a terminal would obey it. */
#ifndef EVSPACE_UTF8_H
#define EVSPACE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes of the character at @text, of which @left bytes are there, or 0 if it is not UTF-8. */
size_t utf8_length(const char *text, size_t left);

/** Is the character of @length bytes at @text a control character (C0, DEL, C1)? */
bool utf8_is_control(const char *text, size_t length);

/** Replace what is no UTF-8, and what a terminal would obey, by question marks. */
void utf8_clean(char *text);

/** Room for what was quoted. */
#define UTF8_QUOTED 72

/** What somebody else has said, in double quotes, of which there are none within; of more than 64
 * bytes only the beginning, with "...". Returns @quoted. */
const char *utf8_quote(const char *text, char quoted[UTF8_QUOTED]);

#endif
