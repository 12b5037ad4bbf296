/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the elements of a document begin: the tags of its text, counted as the tree's nodes are. */
#include "consumers/mir/request-places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/markup.h"
#include "pathmap/base/memory.h"

/* Goes from tag to tag. */
struct mir_walk {
	const char *text;
	size_t n, at, seen, begun; /* behind the last tag; lines counted up to; this line's begin */
	uint32_t line;
	struct markup tag;
};

/* The next tag that begins an element, with its line and column. */
static bool walk_next(struct mir_walk *w, uint32_t at[2])
{
	do {
		if (!markup_next(w->text, w->n, w->at, &w->tag))
			return false;
		w->at = w->tag.end;
	} while (w->tag.kind != MARKUP_START && w->tag.kind != MARKUP_EMPTY);
	for (; w->seen < w->tag.begin; w->seen++) {
		if (w->text[w->seen] != '\n')
			continue;
		w->line++;
		w->begun = w->seen + 1;
	}
	at[0] = w->line;
	at[1] = (uint32_t)(w->tag.begin - w->begun) + 1;
	return true;
}

void places_name(struct mir_place *place, const char *text, size_t n)
{
	struct mir_walk walk = {.text = text, .n = n, .line = 1};
	struct markup last = {.name = "", .name_bytes = 0};
	uint32_t at[2];

	while (walk_next(&walk, at) &&
	       (at[0] < place->line || (at[0] == place->line && at[1] <= place->column)))
		last = walk.tag;
	snprintf(place->element, sizeof(place->element), "%.*s",
		 (int)(last.name_bytes < 31 ? last.name_bytes : 31), last.name);
}

/* Attributes of a tag, or of what there is of one, by their "=". Those of namespaces are added. */
static size_t attributes_count(const char *tag, size_t n, size_t *spaces)
{
	static const char space[] = "xmlns";
	size_t count = 0, bytes = sizeof(space) - 1;
	char quote = 0;

	for (size_t i = 0; i < n; i++) {
		if (quote ? tag[i] == quote : tag[i] == '"' || tag[i] == '\'')
			quote = quote ? 0 : tag[i];
		else if (!quote)
			count += tag[i] == '=';
		*spaces += !quote && n - i > bytes && memcmp(tag + i, space, bytes) == 0;
	}
	return count;
}

bool places_few(struct mir_place *place, const char *text, size_t n)
{
	struct markup m = {.end = 0};
	size_t spaces = 0, at = 0, seen = 0, begun = 0;

	*place = (struct mir_place){.line = 1};
	for (bool whole = true; whole && at < n; at = m.end) {
		whole = markup_next(text, n, at, &m);
		if (!whole)
			m.end = n;
		else if (m.kind == MARKUP_OTHER)
			continue;
		if (attributes_count(text + m.begin, m.end - m.begin, &spaces) <=
			    REQUEST_ATTRIBUTES &&
		    spaces <= REQUEST_SPACES)
			continue;
		for (; seen < m.begin; seen++)
			if (text[seen] == '\n') {
				place->line++;
				begun = seen + 1;
			}
		place->column = (uint32_t)(m.begin - begun) + 1;
		places_name(place, text, n);
		return false;
	}
	return true;
}

void places_init(struct mir_places *places, xmlDocPtr document, const char *text, size_t n)
{
	struct mir_walk walk = {.text = text, .n = n, .line = 1};
	xmlNodePtr node;
	size_t found = 0;

	places->n = 0;
	for (node = xmlDocGetRootElement(document); node; node = places_next(node))
		node->_private = (void *)(uintptr_t)++places->n;
	places->at = memory_new(places->n, sizeof(*places->at));
	while (found < places->n && walk_next(&walk, places->at[found]))
		found++;
}

void places_fini(struct mir_places *places)
{
	free(places->at);
}

struct mir_place places_of(const struct mir_places *places, const xmlNode *node)
{
	size_t i = (uintptr_t)node->_private;
	struct mir_place place = {0};

	if (i > 0 && i <= places->n) {
		place.line = places->at[i - 1][0];
		place.column = places->at[i - 1][1];
	}
	snprintf(place.element, sizeof(place.element), "%s", (const char *)node->name);
	return place;
}

xmlNodePtr places_next(xmlNodePtr node)
{
	xmlNodePtr next = xmlFirstElementChild(node);

	while (!next && node && node->type == XML_ELEMENT_NODE) {
		next = xmlNextElementSibling(node);
		node = node->parent;
	}
	return next;
}
