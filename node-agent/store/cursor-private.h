/* SPDX-License-Identifier: BSD-3-Clause */
/* What a cursor file looks like. It is read and written, never mapped: whoever cuts it short makes
 * it wrong, and nothing else. */
#ifndef EVSPACE_CURSOR_PRIVATE_H
#define EVSPACE_CURSOR_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "node-agent/segment/folder.h"
#include "node-agent/store/cursor.h"

#define CURSOR_MAGIC   0x31525543565345ull /* "ESVCUR1" */
#define CURSOR_VERSION 2u

/** Rows of the first block. The second has as many, each other one as many as all before it. */
#define ROWS_FIRST 64u
#define ROWS_MAX   (1u << 18)

/** `made` counts waves; wave number waves[i % CURSOR_WAVES] was the i-th one made. */
struct cursor_head {
	uint64_t magic;
	uint32_t version, line_bytes;
	unsigned char id[16];
	uint64_t rows, made;
	uint64_t never;	  /* waves up to this one that are not made yet never will be */
	uint64_t used_ns; /* CLOCK_MONOTONIC when the head was written */
	uint64_t left;	  /* 1: the consumer has gone, and may come back within: */
	uint64_t keep_ns;
	char peer[64]; /* who the consumer is */
	uint64_t waves[CURSOR_WAVES];
};

/** A row. Until wave number @since it was at @start, then where the columns say. */
struct cursor_line {
	struct cursor_key key;
	uint64_t start, since;
	uint64_t zero[2]; /* else it is of an agent that still moved ranks: begun anew */
};

/** Room of the head, which is within one page: a kill does not tear it. */
#define CURSOR_HEAD 1024u

_Static_assert(sizeof(struct cursor_head) <= CURSOR_HEAD, "the head has its room");
_Static_assert(sizeof(struct cursor_line) == 64, "lines are 64 bytes");

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

/* ---- the file (cursor-file.c); all return 0, or -1 with errno: EINVAL, it is not sound ---- */

/** Read a head that is one of this version. */
int cursor_head_read(int fd, struct cursor_head *head);
int cursor_head_write(int fd, struct cursor_head *head);

/** The lines of rows [0, @rows), or [@from, @rows), from or to @lines of all rows. */
int cursor_lines_read(int fd, uint32_t rows, struct cursor_line *lines);
int cursor_lines_write(int fd, uint32_t from, uint32_t rows, const struct cursor_line *lines);

/** Where rows [0, @rows) were after the wave whose slot this is. Of what was never written nothing
 * is to be relied on: see cursor_line. */
int cursor_column_read(int fd, uint32_t rows, unsigned slot, uint64_t *ends);
int cursor_column_write(int fd, uint32_t rows, unsigned slot, const uint64_t *ends);

/** What the file takes for @rows rows, those of the blocks with rows [0, @reserved) with their
 * columns. */
uint64_t cursor_file_bytes(uint32_t rows, uint32_t reserved);

/** Take the space that the columns of all blocks with rows [@from, @rows) need. */
int cursor_columns_reserve(int fd, uint32_t from, uint32_t rows);

#endif
