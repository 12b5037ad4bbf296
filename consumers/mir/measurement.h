/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurement documents, by the report's section 6: tuples, in the order of the request, made
 * short. */
#ifndef EVSPACE_MEASUREMENT_H
#define EVSPACE_MEASUREMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "consumers/mir/request.h"

/** A value and whose it is. */
struct mir_tuple {
	const char *probe, *metric, *function; /* the last: NULL if it is no aggregate */
	const char *id[MIR_LEVELS];	       /* NULL: none */
	bool as_requested[MIR_LEVELS]; /* the request has this id itself: the document need not say
					  it */
	bool known;		       /* there is a value */
	double value;
};

/** Write the document of @n tuples. Those of one probe are beside each other, in the order of its
 * request: entities, then metrics, then functions. */
void measurement_write(FILE *out, const struct mir_tuple *tuples, size_t n);

#endif
