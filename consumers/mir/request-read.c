/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads requests: by libxml2 into a tree, by the schema whether they are right, then into data. An
 * object of its own, as nothing else needs that library. */
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/request-read.h"
#include "consumers/mir/request-places.h"
#include "consumers/mir/request.h"
#include "pathmap/base/memory.h"

__attribute__((visibility("default"))) mir_request_function mir_request_read;

#if LIBXML_VERSION >= 21200
typedef const xmlError *mir_xml_error;
#else
typedef xmlErrorPtr mir_xml_error;
#endif

/* So many of them are enough. */
#define ERRORS_MOST 100u

/* A document on its way. */
struct mir_reading {
	struct mir_request *request;
	struct mir_places places;
	size_t n, errors; /* elements and attributes so far; and of the XML */
	bool declares;
};

/* ---- into a tree ---- */

static void on_start(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
		     int n_spaces, const xmlChar **spaces, int n_attributes, int n_defaulted,
		     const xmlChar **attributes)
{
	xmlParserCtxtPtr parser = ctx;
	struct mir_reading *r = parser->_private;

	r->n += 1 + (size_t)n_spaces + (size_t)n_attributes;
	if (r->n > REQUEST_ELEMENTS) {
		xmlStopParser(parser);
		return;
	}
	xmlSAX2StartElementNs(ctx, name, prefix, uri, n_spaces, spaces, n_attributes, n_defaulted,
			      attributes);
}

/* What a document type can do (entities, files, the network) no request needs. */
static void on_doctype(void *ctx, const xmlChar *name, const xmlChar *external,
		       const xmlChar *system)
{
	xmlParserCtxtPtr parser = ctx;

	(void)name;
	(void)external;
	(void)system;
	((struct mir_reading *)parser->_private)->declares = true;
	xmlStopParser(parser);
}

/* libxml2 may raise one for each byte, and go on. */
static void on_error(void *ctx, mir_xml_error error)
{
	xmlParserCtxtPtr parser = ctx;

	if (error->level < XML_ERR_ERROR ||
	    ++((struct mir_reading *)parser->_private)->errors < ERRORS_MOST)
		return;
	parser->wellFormed = 0;
	xmlStopParser(parser);
}

static void parser_complain(struct mir_reading *r, xmlParserCtxtPtr parser, const char *xml,
			    size_t n)
{
	const xmlError *error = xmlCtxtGetLastError(parser);
	struct mir_place place = {.line = 1, .column = 1};
	const char *text = error && error->message ? error->message : "it is no XML";

	if (error && error->line > 0) {
		place.line = (uint32_t)error->line;
		place.column = error->int2 > 0 ? (uint32_t)error->int2 : 0;
	}
	places_name(&place, xml, n);
	request_complain(r->request, &place, "not well formed: %.*s; mend that there or above it",
			 (int)strcspn(text, "\n"), text);
}

static xmlDocPtr document_parse(struct mir_reading *r, const char *text, size_t n)
{
	const struct mir_place begin = {.line = 1, .column = 1};
	struct mir_place many;
	xmlParserCtxtPtr parser;
	xmlDocPtr document;

	if (!places_few(&many, text, n)) {
		request_complain(
			r->request, &many,
			"an element has more than %u attributes, or the document more than "
			"%u names of namespaces; no request needs so many",
			REQUEST_ATTRIBUTES, REQUEST_SPACES);
		return NULL;
	}
	parser = xmlNewParserCtxt();
	if (!parser)
		abort();
	parser->_private = r;
	parser->sax->startElementNs = on_start;
	parser->sax->internalSubset = on_doctype;
	parser->sax->serror = on_error;
	parser->sax->comment = NULL;
	parser->sax->processingInstruction = NULL;
	/* whatever it says of its encoding: tags are found in bytes */
	document = xmlCtxtReadMemory(parser, text, (int)n, NULL, "UTF-8",
				     XML_PARSE_IGNORE_ENC | XML_PARSE_NONET | XML_PARSE_NOERROR |
					     XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
	if (r->declares)
		request_complain(r->request, &begin,
				 "it has a document type; take <!DOCTYPE ...> out: none is read");
	else if (r->n > REQUEST_ELEMENTS)
		request_complain(r->request, &begin,
				 "it has more than %u elements and attributes; say it in several "
				 "documents",
				 REQUEST_ELEMENTS);
	else if (!document || !parser->wellFormed)
		parser_complain(r, parser, text, n);
	xmlFreeParserCtxt(parser);
	return document;
}

/* ---- two names for a thing ---- */

/* Words of the examples and Table 2, and those of the DTDs. */
static const struct {
	const char *element, *attribute; /* NULL: the element itself */
	const char *right;
} others[] = {
	{"snapshotrequest", NULL, "snapshotreq"},
	{"instreq", NULL, "instrreq"},
	{"instrreq", "activate", "activated"},
	{"thread", "omp-master", "master"},
};

#define SAY_LENIENT "which only the report's examples have; write %s, or read with --lenient"

static void attribute_rename(xmlNodePtr node, const char *from, const char *to)
{
	xmlChar *value = xmlGetNoNsProp(node, BAD_CAST from);

	if (!xmlHasProp(node, BAD_CAST to))
		xmlNewProp(node, BAD_CAST to, value);
	xmlUnsetProp(node, BAD_CAST from);
	xmlFree(value);
}

static void words_mend(struct mir_reading *r, xmlNodePtr node, bool lenient)
{
	struct mir_place place = places_of(&r->places, node);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const char *attribute = others[i].attribute;

		if (!xmlStrEqual(node->name, BAD_CAST others[i].element) ||
		    (attribute && !xmlHasProp(node, BAD_CAST attribute)))
			continue;
		if (!lenient)
			request_complain(r->request, &place, "\"%s\" is a word " SAY_LENIENT,
					 attribute ? attribute : others[i].element,
					 others[i].right);
		else if (attribute)
			attribute_rename(node, attribute, others[i].right);
		else
			xmlNodeSetName(node, BAD_CAST others[i].right);
	}
}

/* <action type="VALUE"/> is the attribute action="VALUE" of its request. */
static void action_mend(struct mir_reading *r, xmlNodePtr request, xmlNodePtr node, bool lenient)
{
	struct mir_place place = places_of(&r->places, node);
	xmlChar *type = xmlGetNoNsProp(node, BAD_CAST "type");

	if (!lenient)
		request_complain(r->request, &place, "\"action\" is an element " SAY_LENIENT,
				 "<ctrlreq action=\"...\">");
	else if (xmlHasProp(request, BAD_CAST "action"))
		request_complain(r->request, &place,
				 "the request has its action already; leave one of them out");
	else if (node->children || !type)
		request_complain(r->request, &place,
				 "an action is written <action type=\"VALUE\"/>");
	else
		xmlNewProp(request, BAD_CAST "action", type);
	xmlFree(type);
}

static void document_mend(struct mir_reading *r, xmlNodePtr root, bool lenient)
{
	xmlNodePtr node, next;

	for (node = root; node; node = places_next(node))
		words_mend(r, node, lenient);
	if (!xmlStrEqual(root->name, BAD_CAST "ctrlreq"))
		return;
	for (node = xmlFirstElementChild(root); node; node = next) {
		next = xmlNextElementSibling(node);
		if (!xmlStrEqual(node->name, BAD_CAST "action"))
			continue;
		action_mend(r, root, node, lenient);
		xmlUnlinkNode(node);
		xmlFreeNode(node);
	}
}

/* ---- all of it ---- */

struct mir_request *mir_request_read(const char *text, size_t n, bool lenient)
{
	struct mir_reading r = {.request = memory_new(1, sizeof(*r.request))};
	xmlDocPtr document = document_parse(&r, text, n);

	if (r.request->n_faults == 0) {
		places_init(&r.places, document, text, n);
		document_mend(&r, xmlDocGetRootElement(document), lenient);
		if (r.request->n_faults == 0)
			request_validate(r.request, &r.places, document);
		if (r.request->n_faults == 0)
			request_take(r.request, &r.places, document);
		places_fini(&r.places);
	}
	xmlFreeDoc(document);
	return r.request;
}
