/* SPDX-License-Identifier: BSD-3-Clause */
/* Foreign stages: those of a table that others have written, run as if they were one of ours. */
#ifndef EVSPACE_FOREIGN_STAGE_H
#define EVSPACE_FOREIGN_STAGE_H

#include <stdio.h>

#include "tree/stage/evspace-stage.h"
#include "tree/stage/stage.h"

/** A kind of stage made of a table. */
struct foreign_stage_kind {
	struct stage_ops ops;
	const struct evspace_stage_table *table;
	bool broken; /* it has written past what it was given */
	FILE *told;  /* who is told that; NULL: nobody. Set it after foreign_stage_init(). */
};

/** Make @kind, called @name, of @table. Both must outlive it. Returns 0, or -1 with EINVAL and why
 * the table cannot be used in @e. */
int foreign_stage_init(struct foreign_stage_kind *kind, const char *name,
		       const struct evspace_stage_table *table, struct error *e);

#endif
