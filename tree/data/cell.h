/* SPDX-License-Identifier: BSD-3-Clause */
/* A cell of a matrix: number and size of the messages from one process or node to another. */
#ifndef EVSPACE_CELL_H
#define EVSPACE_CELL_H

#include <stdbool.h>
#include <stdint.h>

/** Which ends of a cell are name ids (tree/data/names.h); the others are numbers of processes. */
enum cell_end {
	CELL_FROM_NAMED = 1 << 0,
	CELL_TO_NAMED = 1 << 1,
};

/** One cell of the matrix that its run is named after. The layout is that on the wire. */
struct cell {
	uint64_t calls; /* messages */
	uint64_t bytes;
	uint32_t from, to; /* a name id, or a number as in tuple.peer */
	uint32_t named;	   /* enum cell_end bits */
	uint32_t pad;
};

_Static_assert(sizeof(struct cell) == 32, "a cell is 32 bytes");

/** For struct run_record. Only cells with the same ends may be merged. */
static inline void cell_merge(void *into, const void *of)
{
	struct cell *to = into;
	const struct cell *from = of;

	to->calls += from->calls;
	to->bytes += from->bytes;
}

static inline bool cell_sound(const void *record)
{
	const struct cell *cell = record;

	return !(cell->named & ~(uint32_t)(CELL_FROM_NAMED | CELL_TO_NAMED)) && cell->pad == 0;
}

#endif
