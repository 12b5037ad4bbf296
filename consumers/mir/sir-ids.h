/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids of the regions of an executable: "SOURCE-LINE", and what tells those apart that begin in the
 * same line. */
#ifndef EVSPACE_SIR_IDS_H
#define EVSPACE_SIR_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/code/code.h"

struct sir_ids;

struct sir_ids *sir_ids_new(void);
void sir_ids_free(struct sir_ids *ids);

/** A function, by its source, its line, the column there (0: not known) and its name: one that is
 * compiled several times, as those of headers are, is one. All are to be said before the first id
 * is asked for. */
void sir_ids_add(struct sir_ids *ids, uint32_t source, int line, int column, const char *name);

/** Write the id of a function: by its place among those of the line, in the order of their columns,
 * so that it is the same whatever the compiler makes of it. Returns false the second time. */
bool sir_ids_function(struct sir_ids *ids, uint32_t source, int line, const char *name,
		      char id[CODE_ID]);

/** Write the id of something else in the line: behind the functions, in the order of the calls. */
void sir_ids_other(struct sir_ids *ids, uint32_t source, int line, char id[CODE_ID]);

#endif
