/* SPDX-License-Identifier: BSD-3-Clause */
/* SIR: the structure of a program, from the debugging information of its executable or libraries,
 * or from its sources. */
#ifndef EVSPACE_SIR_H
#define EVSPACE_SIR_H

#include <stdio.h>

#include "consumers/mir/request.h"

/** Write the document for all resources of @request, or complain. @flags: how sources are compiled
 * (code-read.h). */
void sir_answer(struct mir_request *request, const char *flags, FILE *out);

#endif
