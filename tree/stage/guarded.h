/* SPDX-License-Identifier: BSD-3-Clause */
/* Guarded memory: blocks of words for code of others, with guards between that show whether it has
 * written past one. */
#ifndef EVSPACE_GUARDED_H
#define EVSPACE_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Words of a guard: 64 bytes, before each block and after the last. */
#define GUARDED_WORDS 8u

/** Blocks of the same size. Zeroed but for @each: none. */
struct guarded {
	uint64_t *words;
	size_t each; /* words of a block */
	size_t n, room;
};

/** Add a block of zeros. Returns its number. The others may move. */
size_t guarded_add(struct guarded *g);

/** The block with this number. */
static inline uint64_t *guarded_at(const struct guarded *g, size_t i)
{
	return g->words + GUARDED_WORDS + i * (g->each + GUARDED_WORDS);
}

/** Are the guards whole around the @n blocks from @first on? */
bool guarded_holds(const struct guarded *g, size_t first, size_t n);

/** Free all; the size of blocks stays. */
void guarded_fini(struct guarded *g);

#endif
