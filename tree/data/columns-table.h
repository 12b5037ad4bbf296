/* SPDX-License-Identifier: BSD-3-Clause */
/* Which fields of a record are columns, and how (tree/data/columns.h). */
#ifndef EVSPACE_COLUMNS_TABLE_H
#define EVSPACE_COLUMNS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/run.h"

/** The first column of each record: when it started. */
#define COLUMNS_START 0u
/** Most columns of a record, and most bytes of it. */
#define COLUMNS_MOST  15u
#define COLUMNS_BYTES sizeof(struct meet)

/** A field of a record. */
struct column {
	uint8_t at, bytes;
	bool since; /* a time: what it is after the start */
};

struct columns_table {
	const struct column *columns;
	unsigned n; /* 0: there are no columns of this kind */
};

/** Of each kind. */
extern const struct columns_table columns_tables[RUN_KINDS];

#endif
