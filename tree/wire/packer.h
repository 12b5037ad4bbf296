/* SPDX-License-Identifier: BSD-3-Clause */
/* A packer compresses the frames of one direction of a connection with zstd (RFC 8878), as pieces
 * of the stream of frames (tree/wire/wire.h); an unpacker reverses that. */
#ifndef EVSPACE_PACKER_H
#define EVSPACE_PACKER_H

#include <stddef.h>
#include <stdbool.h>

#include "tree/wire/bytes.h"
#include "pathmap/base/error.h"

/** How far back a piece may refer, as a power of two; both sides keep that many bytes. Waves are
 * similar, so a few of them should fit. */
#define PACKER_WINDOW_LOG 17

struct packer;

/** Aborts when there is no memory. */
struct packer *packer_new(void);
void packer_free(struct packer *p);

/** Add a part of a frame; pieces go to @to, to which nobody else may add until packer_flush(). */
void packer_put(struct packer *p, const void *data, size_t bytes, struct bytes *to);

/** The frame is complete: put all of it into @to. */
void packer_flush(struct packer *p, struct bytes *to);

/** Plain size over packed size of all frames so far, at least 1. */
double packer_ratio(const struct packer *p);

/** End the compression, so that the peer frees its memory. Call it after a flush. */
void packer_end(struct packer *p, struct bytes *to);

/** The state of one direction of a connection: pieces refer to earlier ones. */
struct unpacker;

/** Allocates the memory for unpacking with the first piece. Aborts when there is no memory. */
struct unpacker *unpacker_new(void);
void unpacker_free(struct unpacker *u);

/** Begin the next piece: @packed is borrowed until the piece is used up. */
void unpacker_begin(struct unpacker *u, const unsigned char *packed, size_t packed_bytes,
		    size_t plain_bytes);

/** Is there more in the piece? */
bool unpacker_busy(const struct unpacker *u);

/** Has the peer begun to compress, and not ended it? NULL: no. */
bool unpacker_is_open(const struct unpacker *u);

/** Bytes of memory that it takes while it is open. NULL is fine. */
size_t unpacker_bytes(const struct unpacker *u);

/**
 * Unpack more of the piece to @to, at most @room (at least one) bytes. Returns 0 and *@got, or -1
 * with EPROTO and @e: the piece is damaged, needs too much memory, or has another size than it
 * says.
 */
int unpacker_more(struct unpacker *u, unsigned char *to, size_t room, size_t *got, struct error *e);

#endif
