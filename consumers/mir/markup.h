/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags in the bytes of XML text, found without believing that it is well formed: where documents
 * end, and in which line an element begins. */
#ifndef EVSPACE_MARKUP_H
#define EVSPACE_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

enum markup_kind {
	MARKUP_START, /* <name ...> */
	MARKUP_EMPTY, /* <name ... /> */
	MARKUP_END,   /* </name> */
	MARKUP_OTHER, /* a comment, a section of data, an instruction, a declaration */
};

/** One piece of markup. */
struct markup {
	enum markup_kind kind;
	size_t begin, end; /* from its "<" to behind its ">" */
	const char *name;  /* in the text, without a final 0 */
	size_t name_bytes;
	/* of one that is not whole: bytes that were searched for its end, and the quote that is
	 * open behind these; 0: none */
	size_t searched;
	char quote;
};

/** Find the first piece of markup in the @n bytes @text at or behind @from, which is zeroed at
 * first. Returns false if there is none that is whole; `begin` is then where it begins, or @n. When
 * more has come, it goes on with that and @from there, and searches nothing again. */
bool markup_next(const char *text, size_t n, size_t from, struct markup *markup);

/** Is it a tag of that name? */
bool markup_is(const struct markup *markup, const char *name);

#endif
