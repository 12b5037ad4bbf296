/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells processes that ask what waves read of them. */
#ifndef EVSPACE_ROW_TELL_H
#define EVSPACE_ROW_TELL_H

#include <stdint.h>

struct batch;
struct rows;

/** Tell those that have asked (evspace_view_latest()) what the new @wave of this @number has read
 * of them. Costs a load per segment if none has. */
void rows_tell(struct rows *rows, const struct batch *wave, uint64_t number);

#endif
