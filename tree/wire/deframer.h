/* SPDX-License-Identifier: BSD-3-Clause */
/* A deframer: finds the frames in a stream of bytes, plain or in pieces. Does not use sockets, so
 * that it can be fuzzed. */
#ifndef EVSPACE_DEFRAMER_H
#define EVSPACE_DEFRAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/data/arena.h"
#include "tree/data/batch.h"
#include "tree/wire/packer.h"
#include "tree/wire/wire.h"

/** A received frame. Valid during the callback; to keep the body, take a reference on its
 * buffer. */
struct frame {
	const Evspace__Frame *header;
	struct buffer *buffer; /* NULL if there is no body */
	size_t at, bytes;      /* the body, in native byte order and checked (batch_check) */
	size_t plain;	       /* bytes of it when its columns are opened */
};

/** Received bytes before they are frames. Bodies stay where they were received. */
struct deframer {
	struct buffer *buffer; /* NULL if there are none */
	size_t at;	       /* start of the next frame, a multiple of 8 */
	const struct wire_limits *limits;
	bool swap;		   /* the sender has the other byte order */
	bool unpacks;		   /* accept pieces */
	struct arena *arena;	   /* for the headers; reset with every frame */
	uint64_t bytes;		   /* of all frames so far, unpacked */
	uint64_t frames;	   /* so far */
	struct unpacker *unpacker; /* from the first piece on, else NULL */
	struct deframer *inner;	   /* for unpacked bytes */
};

/** Borrows @arena and @limits. */
void deframer_init(struct deframer *d, struct arena *arena, const struct wire_limits *limits);
void deframer_fini(struct deframer *d);

/** Change the limits from the next frame on. */
void deframer_limits_set(struct deframer *d, const struct wire_limits *limits);

/** Memory for the next bytes received: *@room of them, at least one. Moves the beginning of a frame
 * that does not fit into a new buffer. Call it after deframer_next() returned 0. */
unsigned char *deframer_room(struct deframer *d, size_t *room);

/** Add the @bytes received there. */
void deframer_filled(struct deframer *d, size_t bytes);

/**
 * The next frame. Returns 1 and *@frame, valid until the next call; 0 if more bytes are needed; -1
 * with EPROTO and @e if this is not a valid frame: then the rest of the stream cannot be read
 * either.
 */
int deframer_next(struct deframer *d, struct frame *frame, struct error *e);

/** Has a frame begun that is not complete? */
bool deframer_partial(const struct deframer *d);

/** Bytes of memory that the incomplete frame takes, or will take. */
size_t deframer_unfinished(const struct deframer *d);

/** Frames returned so far. */
uint64_t deframer_frames(const struct deframer *d);

/** Free the buffer unless a frame has begun in it, as nothing will come for a while. */
void deframer_rest(struct deframer *d);

#endif
