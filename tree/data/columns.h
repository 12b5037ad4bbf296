/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns: records of one run as they travel, field by field, each as differences to a reference in
 * no more bits than the largest needs. */
#ifndef EVSPACE_COLUMNS_H
#define EVSPACE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "tree/data/run.h"

/**
 * On the wire, all numbers little-endian: uint16 how many records, uint8 their kind, uint8 0; then
 * blocks of COLUMNS_BLOCK records, the last with what is left; then less than 8 bytes of zeros, up
 * to a multiple of 8.
 *
 * A block begins with a uint16 that has a bit for each column that is in it (of a tuple, and of a
 * meet, its fields in order; bit 8 is the number of a newest tuple). All values of a column that is
 * not are what the one before the block was, at first 0. A column is a byte, COLUMNS_STEPS and a
 * width w of 0 to 64 bits; one or two numbers; then values of w bits each, one behind the other, to
 * a full byte. (Of more than 56 bits the lower 32 of all values come first, then the others of
 * all.) Fields of 4 bytes have a sign.
 *
 *   plain   value = reference + bits; the number is the reference less the value before the block
 *           (of `end`, and the other times of a meet: each value is what it is after the start of
 *           the record, the number is the reference)
 *   steps   value = the one before + reference + bits; the numbers are the first value less the one
 *           before the block, and the reference; the first has no bits
 *
 * These numbers are zigzag LEB128 as in protobuf. Sums wrap, so that whatever is in the fields
 * comes out as it went in.
 */
#define COLUMNS_BLOCK 128u
#define COLUMNS_STEPS 0x80u

/** Bytes of plain records that @kind and @count of a run of columns stand for. */
struct columns {
	enum run_kind kind; /* RUN_TUPLES, RUN_NEWEST or RUN_MEETS */
	uint32_t count;
};

/** Are there columns of such records? */
bool columns_possible(unsigned kind);

/** What checked columns stand for. */
struct columns columns_head(const unsigned char *data);

/** Bytes of a whole checked run when its columns, if it has any, are opened. */
size_t columns_plain(const struct run *run, const unsigned char *records);

/** Room that columns_put() needs for @n records. */
size_t columns_room(enum run_kind kind, size_t n);

/** Put 1 to 65,535 @records to @to. Returns the bytes that it took, a multiple of 8: they may be
 * more than the records themselves have, but for columns_room(). */
size_t columns_put(enum run_kind kind, const void *records, size_t n, unsigned char *to);

/**
 * What the @bytes at @data stand for into @what, and the records to @records, where there is room
 * for them; NULL: only look whether that can be done, and they are sound. Reads no byte beyond.
 * Returns 0, or -1 with EPROTO and @e for what columns_put() does not make.
 */
int columns_get(const unsigned char *data, size_t bytes, struct columns *what, void *records,
		struct error *e);

#endif
