/* SPDX-License-Identifier: BSD-3-Clause */
/* Validates requests by the schema that is shipped, and says what would be right. */
#include <libxml/xmlschemas.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/mir/mir-schema.h"
#include "consumers/mir/request-read.h"

struct mir_validating {
	struct mir_request *request;
	const struct mir_places *places;
};

/* What to do where libxml2 does not say what it has expected. */
static const struct {
	int code;
	const char *remedy;
} remedies[] = {
	{XML_SCHEMAV_CVC_COMPLEX_TYPE_3_2_1, "leave it out; mir.xsd has those that there are"},
	{XML_SCHEMAV_CVC_COMPLEX_TYPE_3_2_2, "leave it out; mir.xsd has those that there are"},
	{XML_SCHEMAV_CVC_COMPLEX_TYPE_4, "write it"},
	{XML_SCHEMAV_CVC_COMPLEX_TYPE_2_1, "leave it empty"},
	{XML_SCHEMAV_CVC_COMPLEX_TYPE_2_3, "leave the text out"},
	{XML_SCHEMAV_CVC_DATATYPE_VALID_1_2_1, "write one as mir.xsd has it"},
	{XML_SCHEMAV_CVC_ELT_1, "documents of MIR are in no name space"},
	{XML_SCHEMAV_CVC_PATTERN_VALID, "write true or false"},
	{XML_SCHEMAV_CVC_MININCLUSIVE_VALID, "write a number from -1 on, in ms"},
	{XML_SCHEMAV_CVC_MINLENGTH_VALID, "it has at least one character"},
};

static const char *remedy_of(int code)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (remedies[i].code == code)
			return remedies[i].remedy;
	return NULL;
}

/* A value that breaks a rule is told once by the rule, and once more by the type that has the rule.
 */
static bool is_told(const struct mir_request *request, const struct mir_place *place, int code)
{
	const struct mir_place *last;

	if (request->n_faults == 0 || code != XML_SCHEMAV_CVC_DATATYPE_VALID_1_2_1)
		return false;
	last = &request->faults[request->n_faults - 1].place;
	return last->line == place->line && last->column == place->column;
}

static void on_fault(void *arg, xmlErrorPtr error)
{
	struct mir_validating *v = arg;
	xmlNodePtr node = error->node;
	struct mir_place place = {0};
	const char *text = error->message ? error->message : "it is not valid", *element, *remedy;

	if (node && node->type == XML_ATTRIBUTE_NODE)
		node = node->parent;
	if (node && node->type == XML_ELEMENT_NODE)
		place = places_of(v->places, node);
	if (is_told(v->request, &place, error->code))
		return;
	/* "Element 'metric': what it is" */
	element = strstr(text, "': ");
	if (strncmp(text, "Element '", strlen("Element '")) == 0 && element)
		text = element + strlen("': ");
	remedy = remedy_of(error->code);
	request_complain(v->request, &place, "%.*s%s%s", (int)strcspn(text, "\n"), text,
			 remedy ? " Remedy: " : "", remedy ? remedy : "");
}

static bool is_request(struct mir_request *request, const struct mir_places *places,
		       xmlDocPtr document)
{
	static const char *const kinds[] = {[MIR_SIRREQ] = "sirreq",
					    [MIR_SNAPSHOTREQ] = "snapshotreq",
					    [MIR_INSTRREQ] = "instrreq",
					    [MIR_CTRLREQ] = "ctrlreq"};
	xmlNodePtr root = xmlDocGetRootElement(document);

	request->place = places_of(places, root);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!xmlStrEqual(root->name, BAD_CAST kinds[i]))
			continue;
		request->kind = (enum mir_kind)i;
		return true;
	}
	request_complain(request, &request->place,
			 "this is no request. Write sirreq, snapshotreq, instrreq or ctrlreq");
	return false;
}

void request_validate(struct mir_request *request, const struct mir_places *places,
		      xmlDocPtr document)
{
	static xmlSchemaPtr schema; /* read once */
	struct mir_validating v = {request, places};
	xmlSchemaValidCtxtPtr valid;
	int rc;

	if (!is_request(request, places, document))
		return;
	if (!schema) {
		xmlSchemaParserCtxtPtr parser =
			xmlSchemaNewMemParserCtxt(mir_schema, (int)strlen(mir_schema));

		schema = parser ? xmlSchemaParse(parser) : NULL;
		xmlSchemaFreeParserCtxt(parser);
	}
	valid = schema ? xmlSchemaNewValidCtxt(schema) : NULL;
	if (!valid)
		abort();
	xmlSchemaSetValidStructuredErrors(valid, on_fault, &v);
	rc = xmlSchemaValidateDoc(valid, document);
	xmlSchemaFreeValidCtxt(valid);
	if (rc != 0 && request->n_faults == 0)
		request_complain(request, &request->place, "it is not as mir.xsd has it");
}
