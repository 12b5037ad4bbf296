/* SPDX-License-Identifier: BSD-3-Clause */
/* SIR: the structure of a program, from the debugging information of its executable or libraries,
 * or from its sources. */
#ifndef EVSPACE_SIR_H
#define EVSPACE_SIR_H

#include <stdio.h>

#include "consumers/mir/request.h"

/** The path of a `file:` URI (RFC 8089), for the caller to free; NULL: it is none. */
char *sir_path(const char *uri);

/** Is the file in a folder (NULL: in any)? Neither may be what links make of it. */
bool sir_is_below(const char *path, const char *folder);

/** Write the document for all resources of @request, or complain. @flags: how sources are compiled
 * (code-read.h). It takes as long as that. */
void sir_answer(struct mir_request *request, const char *flags, FILE *out);

#endif
