/* SPDX-License-Identifier: BSD-3-Clause */
/* What a cursor file looks like, for its node and for those that read on from it. */
#ifndef EVSPACE_CURSOR_PRIVATE_H
#define EVSPACE_CURSOR_PRIVATE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "node-agent/cursor.h"

#define CURSOR_MAGIC   0x31525543565345ull /* "ESVCUR1" */
#define CURSOR_VERSION 1u
#define ROWS_FIRST     64u
#define ROWS_MAX       (1u << 18)

/* `made` counts waves; wave number waves[i % CURSOR_WAVES] was the i-th one made. */
struct cursor_head {
	uint64_t magic;
	uint32_t version, row_bytes;
	uint64_t rows, room;
	uint64_t made;
	uint64_t waves[CURSOR_WAVES];
	unsigned char id[16];
	uint64_t never; /* waves up to this one that are not made yet never will be */
	uint64_t pad[6];
};

/* One row: 69 words, no power of two, so that rows do not collide in the cache. */
struct cursor_line {
	struct cursor_key key;
	uint64_t ends[CURSOR_WAVES]; /* by the same index as waves[] */
	_Atomic uint64_t given;	     /* not 0: another node reads on where this one has stopped */
};

/** Room for the name of a cursor file, and for the part that all of a scope have in common. */
#define CURSOR_FILE  256
#define CURSOR_SCOPE 34

/** "ID." of the scope's cursor files. */
static inline void cursor_scope(char name[CURSOR_SCOPE], const unsigned char id[16])
{
	for (int i = 0; i < 16; i++)
		snprintf(name + 2 * i, 3, "%02x", id[i]);
	memcpy(name + 32, ".", 2);
}

static inline void cursor_file(char name[CURSOR_FILE], const unsigned char id[16], const char *node)
{
	cursor_scope(name, id);
	snprintf(name + CURSOR_SCOPE - 1, CURSOR_FILE - CURSOR_SCOPE + 1, "%s%s", node,
		 CURSOR_SUFFIX);
}

static inline size_t cursor_bytes(uint64_t room)
{
	return sizeof(struct cursor_head) + room * sizeof(struct cursor_line);
}

/** Does a file of @bytes hold this scope's cursors, every count in it true? */
static inline bool cursor_sound(const struct cursor_head *h, size_t bytes,
				const unsigned char id[16])
{
	return h->magic == CURSOR_MAGIC && h->version == CURSOR_VERSION &&
	       h->row_bytes == sizeof(struct cursor_line) && h->room >= ROWS_FIRST &&
	       h->room <= ROWS_MAX && h->rows <= h->room && cursor_bytes(h->room) <= bytes &&
	       memcmp(h->id, id, sizeof(h->id)) == 0;
}

#endif
