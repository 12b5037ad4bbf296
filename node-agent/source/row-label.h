/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program calls its regions and phases, from its segment into a scope's names. */
#ifndef EVSPACE_ROW_LABEL_H
#define EVSPACE_ROW_LABEL_H

#include "node-agent/segment/segment.h"
#include "tree/data/names.h"

/** Learn the labels of @s; *@seen becomes how many it said it had. Returns 0, or -1: it broke. */
int row_labels_take(const struct segment *s, struct names *names, uint32_t *seen);

#endif
