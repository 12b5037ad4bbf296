/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks of programs that are compiled with -finstrument-functions (GCC and Clang): each function
 * calls one when it is entered and one when it is left. A function that is not switched on costs a
 * load of the page's mask for each.
 */
#ifndef EVSPACE_HOOKS_H
#define EVSPACE_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#include "node-agent/segment/segment-function.h"

/** A function that is a region, on this thread. All zero: there is none. */
struct hook_open {
	uint64_t frame;	 /* stack address where it was entered */
	uint32_t label;	 /* of its region */
	uint32_t beyond; /* functions in it that were entered when there was no room for more */
};

/** Records that the function @name was entered (@begin) or left, from @frame. @opens are those of
 * this thread, by the depth of their regions. */
typedef void hooks_record(const char *name, size_t length, struct hook_open *opens, uint64_t frame,
			  int begin);

/** There is a segment, with this page: have @record called for functions that are on. */
void evspace_door_hooks(struct segment_functions *functions, hooks_record *record)
	__attribute__((visibility("default")));

#endif
