/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags in the bytes of XML text: as much of its grammar as tells where one ends. */
#include "consumers/mir/markup.h"

#include <string.h>

/* What is no tag, by how it begins and ends. */
static const struct {
	const char *begin, *end;
} others[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}};

/* Behind the @end of what begins at @from; 0: there is none. */
static size_t other_end(const char *text, size_t n, size_t from, struct markup *m, const char *end)
{
	size_t bytes = strlen(end), at = m->begin + m->searched;
	const char *found;

	/* the end may have come in part */
	at = at < from + bytes ? from : at - bytes;
	found = memmem(text + at, n - at, end, bytes);
	m->searched = n - m->begin;
	return found ? (size_t)(found - text) + bytes : 0;
}

/* Behind the ">" of a tag, not one in quotes; 0: there is none. No "<" may be in a tag, not even in
 * quotes: whoever forgot to end one does not take what follows with it. */
static size_t tag_end(const char *text, size_t n, size_t from, struct markup *m)
{
	size_t at = m->begin + m->searched;

	for (at = at < from ? from : at; at < n; at++) {
		char c = text[at];

		if (c == '<')
			return at;
		if (c == '>' && !m->quote)
			return at + 1;
		if (m->quote ? c == m->quote : c == '"' || c == '\'')
			m->quote = m->quote ? 0 : c;
	}
	m->searched = n - m->begin;
	return 0;
}

static bool other_next(const char *text, size_t n, struct markup *m, bool *is_other)
{
	size_t left = n - m->begin;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t bytes = strlen(others[i].begin), here = left < bytes ? left : bytes;

		if (memcmp(text + m->begin, others[i].begin, here) != 0)
			continue;
		*is_other = true;
		m->kind = MARKUP_OTHER;
		m->name_bytes = 0;
		m->end = here < bytes ? 0 : other_end(text, n, m->begin + bytes, m, others[i].end);
		return m->end > 0;
	}
	*is_other = false;
	return false;
}

/* Is it whole? Then the next one begins anew. */
static bool markup_found(struct markup *m)
{
	if (m->end == 0)
		return false;
	m->searched = 0;
	m->quote = 0;
	return true;
}

bool markup_next(const char *text, size_t n, size_t from, struct markup *markup)
{
	const char *at = from < n ? memchr(text + from, '<', n - from) : NULL;
	size_t begin = at ? (size_t)(at - text) : n, name;
	bool is_other, closes;

	if (begin != from || markup->begin != from) {
		markup->searched = 0;
		markup->quote = 0;
	}
	markup->begin = begin;
	if (!at || begin + 1 == n)
		return false;
	if (other_next(text, n, markup, &is_other) || is_other)
		return markup_found(markup);
	closes = text[markup->begin + 1] == '/';
	name = markup->begin + 1 + closes;
	markup->end = tag_end(text, n, name, markup);
	if (!markup_found(markup))
		return false;
	markup->name = text + name;
	for (markup->name_bytes = 0; !strchr(" \t\r\n/<>=\"'", markup->name[markup->name_bytes]);)
		markup->name_bytes++;
	if (closes)
		markup->kind = MARKUP_END;
	else if (markup->end - name > 1 && memcmp(text + markup->end - 2, "/>", 2) == 0)
		markup->kind = MARKUP_EMPTY;
	else
		markup->kind = MARKUP_START;
	return true;
}

bool markup_is(const struct markup *markup, const char *name)
{
	return markup->kind != MARKUP_OTHER && strlen(name) == markup->name_bytes &&
	       memcmp(markup->name, name, markup->name_bytes) == 0;
}
