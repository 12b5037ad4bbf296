/* SPDX-License-Identifier: BSD-3-Clause */
/* SIR: the structure of a program, from the debugging information of its executable or libraries,
 * or from its sources. */
#ifndef EVSPACE_SIR_H
#define EVSPACE_SIR_H

#include <stdio.h>

#include "consumers/mir/request.h"
#include "pathmap/base/error.h"

struct code_text;

/** What resources may be, and how they are read. Borrowed. */
struct sir_reach {
	const char *flags;  /* how sources are compiled (code-read.h) */
	const char *hosts;  /* that they may be fetched from (fetch.h); NULL: none */
	const char *folder; /* into that one */
	const char *below;  /* the folder that files have to be in; NULL: any */
};

/** The name of a source in its ids: the path of a `file:` URI (RFC 8089), or what is fetched as it
 * is; for the caller to free. NULL: it is neither. */
char *sir_name(const char *uri);

/** Fetch the source of that name, if it has to be, or complain. */
void sir_fetch(const struct sir_reach *reach, const char *name, const struct mir_place *place,
	       struct mir_request *request);

/** Read the source of that name (code-read.h), which is fetched if it has to be. Returns 0, or -1
 * with @e. */
int sir_read(const struct sir_reach *reach, const char *name, struct code_text *code,
	     struct error *e);

/** Write the document for all resources of @request, or complain; behind it a 0, and what
 * units_note() takes. It takes as long as compiling does. */
void sir_answer(struct mir_request *request, const struct sir_reach *reach, FILE *out);

#endif
