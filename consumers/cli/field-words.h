/* SPDX-License-Identifier: BSD-3-Clause */
/* Tuples of programs' elements, for people and as JSON. */
#ifndef EVSPACE_FIELD_WORDS_H
#define EVSPACE_FIELD_WORDS_H

#include <jansson.h>
#include <stdio.h>

#include "tree/data/fields.h"

/** Print " iteration=3 residual=0.5,1 phase=solve". */
void field_words_print(const struct fields *fields, const void *tuple, FILE *out);

/** Its fields as an object; values that JSON has not (NAN, infinite) are null. */
json_t *field_words_json(const struct fields *fields, const void *tuple);

#endif
