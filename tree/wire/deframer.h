/* SPDX-License-Identifier: BSD-3-Clause */
/* A deframer: finds the frames in a stream of bytes, plain or in pieces. Knows no sockets, so that
 * it can be fuzzed. */
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

/** A frame that came in. Valid during the callback; keep the body by a reference on its buffer. */
struct frame {
	const Evspace__Frame *header;
	struct buffer *buffer; /* NULL when there is no body */
	size_t at, bytes;      /* the body, in native byte order and checked (batch_check) */
};

/** Bytes received and not yet understood. Bodies stay where they were received. */
struct deframer {
	struct buffer *buffer; /* NULL: nothing is held */
	size_t at;	       /* where the next frame begins, a multiple of 8 */
	const struct wire_limits *limits;
	bool swap;		   /* the sender's byte order is not ours */
	bool unpacks;		   /* pieces are expected; else they are refused */
	struct arena *arena;	   /* for the headers; reset with every frame */
	uint64_t bytes;		   /* of all frames so far, unpacked */
	uint64_t frames;	   /* so far */
	struct unpacker *unpacker; /* since the first piece, else NULL */
	struct deframer *inner;	   /* what was unpacked and not yet understood */
};

/** @arena and @limits stay the caller's. */
void deframer_init(struct deframer *d, struct arena *arena, const struct wire_limits *limits);
void deframer_fini(struct deframer *d);

/** From the next frame on, these are the limits. */
void deframer_limits_set(struct deframer *d, const struct wire_limits *limits);

/**
 * Where to put the next bytes that come: *@room of them, at least one. A frame that does not fit
 * into the rest of the buffer has its beginning moved into a new one. Call after deframer_next()
 * gave 0.
 */
unsigned char *deframer_room(struct deframer *d, size_t *room);

/** @bytes were put there. */
void deframer_filled(struct deframer *d, size_t bytes);

/**
 * The next frame. Returns 1 and *@frame, valid until the next call; 0 when more bytes are needed;
 * -1 with EPROTO and @e when this is no frame, and then nothing behind it can be understood either.
 */
int deframer_next(struct deframer *d, struct frame *frame, struct error *e);

/** Is there the beginning of a frame? */
bool deframer_partial(const struct deframer *d);

/** Bytes of memory that are taken, or will be, for what is not whole yet. */
size_t deframer_unfinished(const struct deframer *d);

/** Frames that were handed out so far. */
uint64_t deframer_frames(const struct deframer *d);

/** Nothing more will come for a while: give the buffer back unless a frame has begun in it. */
void deframer_rest(struct deframer *d);

#endif
