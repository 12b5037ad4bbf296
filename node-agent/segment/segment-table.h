/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables in a segment: labels, the names of regions and phases (evspace.h) by the numbers in
 * tuples; modules, the code files that the process has mapped, so that its call sites can be
 * resolved after its end; and its communicators, for its writer.
 */
#ifndef EVSPACE_SEGMENT_TABLE_H
#define EVSPACE_SEGMENT_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "node-agent/segment/segment.h"

/** Bytes of a label with its final 0; longer names are cut. */
#define SEGMENT_LABEL_TEXT 56

/** One label, in a hash table that only grows. */
struct segment_label {
	_Atomic uint32_t used; /* enum segment_label_state */
	uint32_t id;	       /* hash of the text: the same in all processes; never 0 */
	char text[SEGMENT_LABEL_TEXT];
};

enum segment_label_state { LABEL_FREE, LABEL_MAKING, LABEL_MADE };

_Static_assert(sizeof(struct segment_label) == 64, "labels are 64 bytes");

/** The number of the label @name of @length bytes, which is added if it is new. Lock-free,
 * bounded. When the table is full it still has a number, but no text. */
uint32_t segment_label_make(struct segment *s, const char *name, size_t length);

/** How many labels a mapped segment has; when this grows there are new ones. */
uint32_t segment_labels(const struct segment *s);

/** The label in slot @i < labels_max, NULL: there is none. */
const struct segment_label *segment_label(const struct segment *s, uint32_t i);

#define MODULE_BUILD_ID_MAX 32
#define MODULE_PATH_MAX	    448

/** One module. Addresses in no module are not resolved: "?+0x55d0c41f2e10". */
struct segment_module {
	uint64_t bias;	    /* address in the process minus address in the file */
	uint64_t from, end; /* addresses of its code in the process */
	_Atomic uint32_t used;
	uint32_t build_id_bytes; /* 0: it has none, or it does not fit */
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	char path[MODULE_PATH_MAX]; /* absolute; "" if it is not known or does not fit */
};

_Static_assert(sizeof(struct segment_module) == 512, "module entries are 512 bytes");

/** Add a module that is @like but for `used`. Lock-free, no system call; two threads at once may
 * add it twice. Does nothing without room. (For writers.) */
void segment_module_add(struct segment *s, const struct segment_module *like);

/** The module in slot @i < layout.modules_max; NULL: there is none, or it is not complete yet. */
const struct segment_module *segment_module(const struct segment *s, uint32_t i);

/** The module whose code @address is in, or NULL. */
const struct segment_module *segment_module_find(const struct segment *s, uint64_t address);

/** Add a communicator, unless its id is there already. When the table is full it takes the place
 * of the oldest freed one; if none is, the header notes it. Any thread, no system call. */
void segment_comm_add(struct segment *s, uint32_t id, uint32_t parent, uint32_t size,
		      uint32_t members);

/** The communicator is freed. Its entry stays until the room is needed. */
void segment_comm_leave(struct segment *s, uint32_t id);

#endif
