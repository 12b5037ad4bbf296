/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions of a program compiled with -finstrument-functions are regions: agents write it on
 * a page of its own, behind what the program is told, and the program's hooks read it. */
#ifndef EVSPACE_SEGMENT_FUNCTION_H
#define EVSPACE_SEGMENT_FUNCTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node-agent/segment/segment-told.h"

/** Most functions that are on at a time, and bytes of a name with its final 0. */
#define SEGMENT_FUNCTIONS     48u
#define SEGMENT_FUNCTION_NAME 56u

/** In the label of a region that is open: it is a function. */
#define SEGMENT_REGION_FUNCTION (UINT64_C(1) << 32)

/** Bits of the mask, one for the addresses of some functions. */
#define SEGMENT_FUNCTION_BITS 4096u

/** A function that is on. */
struct segment_function {
	_Atomic uint64_t address; /* in the process; 0: none. Written last, and cleared first */
	_Atomic uint64_t until_mono_ns; /* it is off from then on by itself */
	_Atomic uint8_t name[SEGMENT_FUNCTION_NAME];
};

/** The page. */
struct segment_functions {
	_Atomic uint64_t mask[SEGMENT_FUNCTION_BITS / 64]; /* 0: all with this bit are off */
	struct segment_function slots[SEGMENT_FUNCTIONS];
};

_Static_assert(sizeof(struct segment_functions) <= SEGMENT_PAGE, "it is one page");

/** The bit of an address. */
static inline unsigned segment_function_bit(uint64_t address)
{
	return (unsigned)(address * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/** May the function at @address be on? Else it is off. */
static inline bool segment_function_may(const struct segment_functions *functions, uint64_t address)
{
	unsigned bit = segment_function_bit(address);

	return atomic_load_explicit(&functions->mask[bit / 64], memory_order_relaxed) >> bit % 64 &
	       1;
}

/** Where the page is in a segment of this layout. */
uint64_t segment_functions_place(const struct segment_layout *layout);

/** The program: its own page. */
struct segment_functions *segment_functions_own(const struct segment *s);

/** The program: copy the name of the function at @address if it is on at @now_ns (CLOCK_MONOTONIC).
 * Returns its length; 0: it is off. */
size_t segment_function_read(const struct segment_functions *functions, uint64_t address,
			     uint64_t now_ns, char name[SEGMENT_FUNCTION_NAME]);

/** The program: the function at @address is off. Later calls of it are told by the mask. */
void segment_function_rest(struct segment_functions *functions, uint64_t address, uint64_t now_ns);

/** Agents: map the page writable. Returns NULL with errno (ENOTSUP: the segment has none). */
struct segment_functions *segment_functions_map(const struct segment *s);
void segment_functions_unmap(struct segment_functions *functions);

/** Agents, from within segment_guarded(): have the function at @address be on until @until_ns; 0:
 * off. Those whose time was over before @now_ns go. Returns 0, or -1: too many are on. */
int segment_function_switch(struct segment_functions *functions, const char *name, uint64_t address,
			    uint64_t until_ns, uint64_t now_ns);

#endif
