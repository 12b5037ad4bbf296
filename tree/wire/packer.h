/* SPDX-License-Identifier: BSD-3-Clause */
/* A packer: compresses the frames of one direction of a connection with zstd (RFC 8878), as pieces
 * of the stream of frames (tree/wire/wire.h). */
#ifndef EVSPACE_PACKER_H
#define EVSPACE_PACKER_H

#include <stddef.h>

#include "tree/wire/bytes.h"

/**
 * How far back a piece may refer, as a power of two: what compresses, and what unpacks, keeps so
 * much. Waves look alike, so that a few of them should fit.
 */
#define PACKER_WINDOW_LOG 17

struct packer;

/** Aborts when memory is out. */
struct packer *packer_new(void);
void packer_free(struct packer *p);

/** Add a part of a frame; pieces go to @to, to which nobody else adds until packer_flush(). */
void packer_put(struct packer *p, const void *data, size_t bytes, struct bytes *to);

/** The frame is complete: all of it goes to @to. */
void packer_flush(struct packer *p, struct bytes *to);

/** How many times smaller frames have become so far, at least 1. */
double packer_ratio(const struct packer *p);

/** Nothing more will be compressed: tell the other side to free what it keeps. After a flush. */
void packer_end(struct packer *p, struct bytes *to);

#endif
