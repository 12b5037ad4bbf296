/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels: the last part of an element's name, its channel and what that is split by. */
#ifndef EVSPACE_LABEL_H
#define EVSPACE_LABEL_H

#include <stddef.h>

#include "node-agent/source/site.h"
#include "node-agent/store/store.h"
#include "pathmap/plan/plan.h"

/**
 * Write the label of @element (a copy) of @s: "p2p", "p2p@world", "p2p@2b6c01fe", "p2p.MPI_Send",
 * "p2p:main.c:12"; "overflow" for the overflow element. Labels are unique within a thread, and a
 * pattern of only the channel matches them all (pattern_match()). Returns 0, or -1 when the segment
 * cannot be read.
 */
int label_write(char *buf, size_t n, const struct segment *s, const struct segment_element *element,
		struct sites *sites);

/**
 * Write the full name of an element of the leaf @place to @name (NAME_BYTES):
 * "/CLUSTER/NODE/rankR/tT/LABEL". Returns 0, or -1 when the segment cannot be read or the name is
 * too long.
 */
int label_name(char *name, const struct plan_place *place, const struct store_segment *s,
	       const struct segment_element *element, struct sites *sites);

#endif
