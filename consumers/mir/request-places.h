/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the elements of a document begin: libxml2 knows their lines, and where they end. */
#ifndef EVSPACE_REQUEST_PLACES_H
#define EVSPACE_REQUEST_PLACES_H

#include <libxml/tree.h>

#include "consumers/mir/request.h"

/** Lines and columns of elements, in the order of the document. */
struct mir_places {
	uint32_t (*at)[2];
	size_t n;
};

/** Find them in the @n bytes of @text, of which the tree was made. Its nodes are numbered. */
void places_init(struct mir_places *places, xmlDocPtr document, const char *text, size_t n);
void places_fini(struct mir_places *places);

/** Where this element begins. */
struct mir_place places_of(const struct mir_places *places, const xmlNode *node);

/** The name of the last element that begins before that place, in @place; "": none. */
void places_name(struct mir_place *place, const char *text, size_t n);

/** Are attributes and names of namespaces as few as requests have? libxml2 compares each with all
 * others, so that many would take it minutes. Else the tag is at @place. Also of text that is not
 * well formed. */
bool places_few(struct mir_place *place, const char *text, size_t n);

/** The next element of the document, or NULL. */
xmlNodePtr places_next(xmlNodePtr node);

#endif
