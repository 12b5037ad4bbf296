/* SPDX-License-Identifier: BSD-3-Clause */
/* An unpacker: what a peer has compressed, piece by piece (RFC 8878). Trusts nothing that it reads.
 */
#ifndef EVSPACE_UNPACKER_H
#define EVSPACE_UNPACKER_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** The state of one direction of a connection: pieces refer to what was in those before them. */
struct unpacker;

/** Takes no memory for unpacking before there is something to unpack. Aborts when memory is out. */
struct unpacker *unpacker_new(void);
void unpacker_free(struct unpacker *u);

/** The next piece: @packed stays the caller's and must last until the piece is used up. */
void unpacker_begin(struct unpacker *u, const unsigned char *packed, size_t packed_bytes,
		    size_t plain_bytes);

/** Is there more in the piece? */
bool unpacker_busy(const struct unpacker *u);

/** Has the peer begun to compress, and not ended that? NULL: no. */
bool unpacker_is_open(const struct unpacker *u);

/** Bytes of memory that it takes while it is open. NULL is fine. */
size_t unpacker_bytes(const struct unpacker *u);

/**
 * Unpack some more of the piece to @to, at most @room (at least one) bytes. Returns 0 and *@got, or
 * -1 with EPROTO and @e: what is there is damaged, asks for too much memory, or unpacks to more or
 * less than the piece has said.
 */
int unpacker_more(struct unpacker *u, unsigned char *to, size_t room, size_t *got, struct error *e);

#endif
