/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of MIR as text: each is one line. */
#ifndef EVSPACE_ANSWER_H
#define EVSPACE_ANSWER_H

#include <stdio.h>

#include "consumers/mir/request.h"

/** Write @text as the content of an element. */
void answer_text(FILE *out, const char *text);

/** Write ` name="value"`. */
void answer_attribute(FILE *out, const char *name, const char *value);

/** Write a comment, for what the report has no element for: "what: text". */
void answer_comment(FILE *out, const char *what, const char *text);

/** Write a processing instruction, which tools find in any document: a host that is missing, and
 * why. */
void answer_missing(FILE *out, const char *host, const char *why);

/** Write an `errors` document: all that is wrong with @request. */
void answer_errors(FILE *out, const struct mir_request *request);

#endif
