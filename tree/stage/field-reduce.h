/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce by a field of typed tuples: `reduce max of field residual`. */
#ifndef EVSPACE_FIELD_REDUCE_H
#define EVSPACE_FIELD_REDUCE_H

#include "tree/data/field-figure.h"
#include "tree/stage/fold.h"

/** Fold a run, by fold_ops.run, into figures of @like's field and fold. Tuples without the field,
 * or without a number in it, and those of trace elements, count as filtered. */
int field_reduce_run(struct stage *s, const struct run_view *view, uint32_t name,
		     const struct field_figure *like);

#endif
