/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of cursor files. They are read and written, never mapped, so that a file which is
 * cut short is only invalid and causes no SIGBUS. */
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

/** Rows of the first block. Each later block has as many rows as all before it. */
#define ROWS_FIRST 64u
#define ROWS_MAX   (1u << 18)

/** `made` counts waves; the i-th wave made had number waves[i % CURSOR_WAVES]. */
struct cursor_head {
	uint64_t magic;
	uint32_t version, line_bytes;
	unsigned char id[16];
	uint64_t rows, made;
	uint64_t never;	  /* waves up to this one that are not made yet are never made */
	uint64_t used_ns; /* CLOCK_MONOTONIC when the head was written */
	uint64_t left;	  /* 1: the consumer has gone, and may come back within keep_ns */
	uint64_t keep_ns;
	char peer[64]; /* the consumer */
	uint64_t waves[CURSOR_WAVES];
};

/** A row. Up to wave number `since` its position is `start`, then that of the columns. */
struct cursor_line {
	struct cursor_key key;
	uint64_t start, since;
	uint64_t zero[2]; /* else it is a file of an old release, and replaced */
};

/** Bytes of the head: within one page, so that a kill cannot leave it half written. */
#define CURSOR_HEAD 1024u

_Static_assert(sizeof(struct cursor_head) <= CURSOR_HEAD, "the head has its room");
_Static_assert(sizeof(struct cursor_line) == 64, "lines are 64 bytes");

/** Room for the name of a cursor file, and for the part that is the same in all files of a
 * scope. */
#define CURSOR_FILE  256
#define CURSOR_SCOPE 34

/** Write "ID.", with which names of the scope's cursor files begin. */
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

/** Read a head, which must be of this version. */
int cursor_head_read(int fd, struct cursor_head *head);
int cursor_head_write(int fd, struct cursor_head *head);

/** The lines of rows [0, @rows), or [@from, @rows), from or to @lines of all rows. */
int cursor_lines_read(int fd, uint32_t rows, struct cursor_line *lines);
int cursor_lines_write(int fd, uint32_t from, uint32_t rows, const struct cursor_line *lines);

/** Positions of rows [0, @rows) after the wave in @slot. What was never written has any value:
 * see cursor_line. */
int cursor_column_read(int fd, uint32_t rows, unsigned slot, uint64_t *ends);
int cursor_column_write(int fd, uint32_t rows, unsigned slot, const uint64_t *ends);

/** Bytes of memory of a file of @rows rows, in which the blocks of rows [0, @reserved) have
 * their columns. */
uint64_t cursor_file_bytes(uint32_t rows, uint32_t reserved);

/** Reserve the columns of all blocks of rows [@from, @rows). */
int cursor_columns_reserve(int fd, uint32_t from, uint32_t rows);

#endif
