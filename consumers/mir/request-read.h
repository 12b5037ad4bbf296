/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of reading a request from a tree. */
#ifndef EVSPACE_REQUEST_READ_H
#define EVSPACE_REQUEST_READ_H

#include <libxml/tree.h>

#include "consumers/mir/request-places.h"
#include "consumers/mir/request.h"

/** Is it a request, and as the schema (mir.xsd) has it? Else complains. (request-validate.c) */
void request_validate(struct mir_request *request, const struct mir_places *places,
		      xmlDocPtr document);

/** Take what a valid document says, and complain of what no schema can say. (request-take.c) */
void request_take(struct mir_request *request, const struct mir_places *places, xmlDocPtr document);

#endif
