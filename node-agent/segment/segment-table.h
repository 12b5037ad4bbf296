/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables in a segment: labels, what the program calls its regions and phases (evspace.h), by the
 * numbers in its tuples; modules, the files of code that a process has mapped, so that its call
 * sites can be resolved when it is gone; and its communicators, for its writer. */
#ifndef EVSPACE_SEGMENT_TABLE_H
#define EVSPACE_SEGMENT_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "node-agent/segment/segment.h"

/** Bytes of a label with its end; of what is longer the beginning counts. */
#define SEGMENT_LABEL_TEXT 56

/** One label, in a hash table that only grows. */
struct segment_label {
	_Atomic uint32_t used; /* enum segment_label_state */
	uint32_t id;	       /* hash of the text: the same in all processes; never 0 */
	char text[SEGMENT_LABEL_TEXT];
};

enum segment_label_state { LABEL_FREE, LABEL_MAKING, LABEL_MADE };

_Static_assert(sizeof(struct segment_label) == 64, "labels are 64 bytes");

/**
 * The number of the label @name of @length bytes, which is made when it is new. Lock-free, bounded.
 * When the table is full it has a number all the same, and no text on record.
 */
uint32_t segment_label_make(struct segment *s, const char *name, size_t length);

/** How many have been made, of a mapped segment: when this grows there is something new. */
uint32_t segment_labels(const struct segment *s);

/** The label in slot @i < labels_max, NULL when there is none. */
const struct segment_label *segment_label(const struct segment *s, uint32_t i);

#define MODULE_BUILD_ID_MAX 32
#define MODULE_PATH_MAX	    448

/** One module. What is not there is not resolved: "?+0x55d0c41f2e10". */
struct segment_module {
	uint64_t bias;	    /* address in the process minus address in the file */
	uint64_t from, end; /* where its code is in the process */
	_Atomic uint32_t used;
	uint32_t build_id_bytes; /* 0: it has none, or one that does not fit */
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	char path[MODULE_PATH_MAX]; /* absolute; "" if it is not known or does not fit */
};

_Static_assert(sizeof(struct segment_module) == 512, "module entries are 512 bytes");

/**
 * Put a module on record, @like but for `used`. Lock-free, no system call; two threads at once may
 * put it down twice. Without room nothing happens. (For writers.)
 */
void segment_module_add(struct segment *s, const struct segment_module *like);

/** The module whose code @address is in, or NULL. */
const struct segment_module *segment_module_find(const struct segment *s, uint64_t address);

/**
 * Record a communicator (ids on record already are left). When the table is full, the oldest one
 * that is freed makes way; noted in the header when none is. Any thread, no system call.
 */
void segment_comm_add(struct segment *s, uint32_t id, uint32_t parent, uint32_t size,
		      uint32_t members);

/** The communicator is freed. It stays on record as long as there is room. */
void segment_comm_leave(struct segment *s, uint32_t id);

#endif
