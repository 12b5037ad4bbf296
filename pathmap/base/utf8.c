/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters of UTF-8 text (RFC 3629): their length, and whether they control a terminal. */
#include "pathmap/base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t utf8_length(const char *text, size_t left)
{
	/* The smallest character of each length; smaller ones are overlong, which is not valid. */
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char lead = (unsigned char)text[0];
	size_t length = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	uint32_t value = lead & (0xffu >> (length + 1));

	if (left == 0 || length == 0 || length > left || lead > 0xf4)
		return 0;
	if (length == 1)
		return 1;
	for (size_t i = 1; i < length; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | ((unsigned char)text[i] & 0x3f);
	}
	if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	return length;
}

bool utf8_is_control(const char *text, size_t length)
{
	unsigned char c = (unsigned char)text[0];
	unsigned char last = (unsigned char)text[length > 0 ? length - 1 : 0];

	if (length == 1)
		return c < 0x20 || c == 0x7f;
	if (length == 3 && strncmp(text, "\xe2\x80", 2) == 0)
		return last >= 0xaa && last <= 0xae;
	if (length == 3 && strncmp(text, "\xe2\x81", 2) == 0)
		return last >= 0xa6 && last <= 0xa9;
	return length == 2 && c == 0xc2 && last < 0xa0;
}

bool utf8_has_controls(const char *text)
{
	size_t left = strlen(text), n;

	for (; left > 0; text += n, left -= n) {
		n = utf8_length(text, left);
		if (n == 0 || utf8_is_control(text, n))
			return true;
	}
	return false;
}

void utf8_clean(char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		size_t length = utf8_length(text, left);

		if (length == 0 || utf8_is_control(text, length)) {
			memset(text, '?', length > 0 ? length : 1);
			length = length > 0 ? length : 1;
		}
		text += length;
		left -= length;
	}
}

const char *utf8_quote(const char *text, char quoted[UTF8_QUOTED])
{
	size_t left = strlen(text), most = 64, n = 0, length;

	while (n < left && (length = utf8_length(text + n, left - n)) > 0 && n + length <= most)
		n += length;
	snprintf(quoted, UTF8_QUOTED, "\"%.*s%s\"", (int)n, text, n < left ? "..." : "");
	for (char *c = quoted + 1; c[1]; c++) {
		if (*c == '"')
			*c = '\'';
	}
	return quoted;
}
