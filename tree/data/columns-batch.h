/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of a batch become columns before they are sent, and runs again where somebody looks. */
#ifndef EVSPACE_COLUMNS_BATCH_H
#define EVSPACE_COLUMNS_BATCH_H

#include "tree/data/batch.h"

/** Zeroed: a batch is not begun with. */
struct columns_turn {
	struct batch done;
	struct batch_cursor at;
};

/** Make columns of all runs of tuples that become smaller by it. */
void columns_batch_pack(struct batch *b);

/** Open all columns. Costs nothing where there are none. */
void columns_batch_open(struct batch *b);

/** The run @packed as what its columns stand for: they stay closed, so that it has no records. Its
 * header is *@head then. Other runs are as they are. */
struct run_view columns_run_look(const struct run_view *packed, struct run *head);

/** Add to @to what one run of columns, @view, stands for. */
void columns_run_open(struct batch *to, const struct run_view *view);

/**
 * The same, of large batches, in turns: return 0, or 1 if @until_ns (CLOCK_MONOTONIC, 0: no limit)
 * comes first. Then @b is as it was: call it again with the same @b and @turn, or
 * columns_turn_drop().
 */
int columns_turn_pack(struct batch *b, struct columns_turn *turn, uint64_t until_ns);
int columns_turn_open(struct batch *b, struct columns_turn *turn, uint64_t until_ns);

/** Safe on zeroed data. */
void columns_turn_drop(struct columns_turn *turn);

#endif
