/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of the stages that sort values into bins: histogram and median. */
#ifndef EVSPACE_HISTOGRAM_H
#define EVSPACE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/total.h"
#include "tree/stage/fold.h"

/** Bins that a histogram typically uses, for traits. */
#define HISTOGRAM_BINS 12.0

/** The private bytes of both. */
struct histogram {
	struct fold fold;
	enum total_value value;
	bool by_op, by_comm;
};

/** For struct stage_ops: `[of VALUE] [by op] [by comm]`. */
int histogram_init(struct stage *s, const char *args, struct error *e);

void histogram_fini(struct stage *s);

/** Add the values of a run's tuples, each as a record that begins with a struct bin, at its
 * histogram_key(). */
void histogram_take(struct stage *s, const struct run_view *view, uint32_t name);

/** For struct fold_ops, for records that begin with a struct bin. */
void histogram_key(struct stage *s, void *record, uint32_t name, uint64_t key[2]);

#endif
