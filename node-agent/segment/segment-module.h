/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules: the files of code that a process has mapped, so that its call sites can be resolved when
 * it is gone. */
#ifndef EVSPACE_SEGMENT_MODULE_H
#define EVSPACE_SEGMENT_MODULE_H

#include "node-agent/segment/segment.h"

#define MODULE_BUILD_ID_MAX 32
#define MODULE_PATH_MAX	    448

/** One of them. What is not there is not resolved: "?+0x55d0c41f2e10". */
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
 * put it down twice. Without room nothing happens. (For writers; segment-module.c)
 */
void segment_module_add(struct segment *s, const struct segment_module *like);

/** The module whose code @address is in, or NULL. */
const struct segment_module *segment_module_find(const struct segment *s, uint64_t address);

#endif
