/* SPDX-License-Identifier: BSD-3-Clause */
/* Documents out of a stream of bytes: by the tags of their first element, so that what is wrong
 * inside one of them is wrong with that alone. */
#include "consumers/mir/framing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/markup.h"
#include "pathmap/base/memory.h"

/* Elements that no other one has in it, by the report's two names each. */
static const char *const requests[] = {"sirreq",   "snapshotreq", "snapshotrequest",
				       "instrreq", "instreq",	  "ctrlreq"};

void framing_add(struct framing *framing, const char *bytes, size_t n)
{
	if (framing->taken > 0) {
		framing->n -= framing->taken;
		memmove(framing->text, framing->text + framing->taken, framing->n);
		framing->seen -= framing->taken;
		framing->clear -= framing->taken;
		framing->taken = 0;
	}
	if (framing->n + n > framing->room) {
		char *more = memory_new(2 * (framing->n + n), 1);

		if (framing->n > 0)
			memcpy(more, framing->text, framing->n);
		free(framing->text);
		framing->text = more;
		framing->room = 2 * (framing->n + n);
	}
	memcpy(framing->text + framing->n, bytes, n);
	framing->n += n;
}

static bool is_request(const struct markup *m)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (m->kind != MARKUP_END && markup_is(m, requests[i]))
			return true;
	return false;
}

/* An XML declaration begins a document. */
static bool is_declaration(const char *text, const struct markup *m)
{
	return m->kind == MARKUP_OTHER && m->end - m->begin > 6 &&
	       memcmp(text + m->begin, "<?xml ", 6) == 0;
}

/* Is there text, which no document begins with, behind what was looked at and before @end? A byte
 * order mark is none. */
static bool has_text(const struct framing *f, size_t end)
{
	for (size_t i = f->seen; i < end; i++)
		if (!f->text[i] || !strchr(" \t\r\n\xef\xbb\xbf", f->text[i]))
			return true;
	return false;
}

/* The bytes of a document type are no text, whatever is in it. */
static bool is_type(const char *text, const struct markup *m)
{
	return m->kind == MARKUP_OTHER && m->end - m->begin > 9 &&
	       memcmp(text + m->begin, "<!DOCTYPE", 9) == 0;
}

/* Where the document ends by this piece of it; 0: it does not. */
static size_t framing_end(struct framing *f, const char *text, const struct markup *m)
{
	f->stray |= !f->rooted && !f->typed && has_text(f, m->begin);
	f->typed |= is_type(text, m);
	if ((f->rooted || f->stray) && (is_request(m) || is_declaration(text, m)))
		return m->begin;
	if (m->kind == MARKUP_OTHER)
		return 0;
	if (!f->rooted) {
		size_t n = m->name_bytes < sizeof(f->root) ? m->name_bytes : 0;

		memcpy(f->root, m->name, n);
		f->root[n] = '\0';
		f->rooted = true;
		return m->kind == MARKUP_START ? 0 : m->end;
	}
	return m->kind == MARKUP_END && (markup_is(m, f->root) || !f->root[0]) ? m->end : 0;
}

/* The document ends before @end, and what is behind it begins at @next. Returns whether there is
 * anything but blanks, with which none begins. */
static bool framing_take(struct framing *f, size_t end, size_t next, struct framed *framed)
{
	size_t begin = f->taken;

	while (begin < end && f->text[begin] && strchr(" \t\r\n", f->text[begin]))
		begin++;
	*framed = (struct framed){f->text + begin, end - begin, f->large};
	framed->large |= framed->n > FRAMING_MAX;
	f->taken = f->seen = next;
	f->clear = f->clear > next ? f->clear : next;
	f->rooted = f->large = f->stray = f->typed = false;
	if (framed->large)
		framed->n = 0;
	return framed->large || framed->n > 0;
}

/* The next 0 byte; NULL: there is none yet. */
static const char *zero_find(struct framing *f)
{
	const char *zero = f->n > f->clear ? memchr(f->text + f->clear, 0, f->n - f->clear) : NULL;

	f->clear = zero ? (size_t)(zero - f->text) : f->n;
	return zero;
}

bool framing_next(struct framing *f, bool all, struct framed *framed)
{
	while (f->text) {
		const char *text = f->text, *zero = zero_find(f);
		size_t n = zero ? (size_t)(zero - text) : f->n, end = 0;
		struct markup m = {.begin = f->seen, .searched = f->searched, .quote = f->quote};

		f->searched = 0;
		f->quote = 0;
		while (end == 0 && markup_next(text, n, f->seen, &m)) {
			end = framing_end(f, text, &m);
			f->seen = m.end;
		}
		if (end > 0) {
			if (framing_take(f, end, end, framed))
				return true;
			continue;
		}
		if (zero || all) {
			if (framing_take(f, n, n + (zero != NULL), framed))
				return true;
			if (!zero)
				return false;
			continue;
		}
		f->stray |= !f->rooted && !f->typed && has_text(f, m.begin);
		f->seen = m.begin;
		f->searched = m.searched;
		f->quote = m.quote;
		/* what is looked at may go, so that no more is kept than of the largest one */
		if (n - f->taken > FRAMING_MAX) {
			f->large = true;
			if (m.begin <= f->taken) {
				f->seen = n;
				f->searched = 0;
				f->quote = 0;
			}
			f->taken = f->seen;
		}
		return false;
	}
	return false;
}

void framing_fini(struct framing *framing)
{
	free(framing->text);
	*framing = (struct framing){0};
}
