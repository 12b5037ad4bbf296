/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection of a hostile peer, and the ways in which it says a frame: whole, in fragments, many
 * at once, in compressed pieces. */
#ifndef EVSPACE_TESTS_SPEECH_H
#define EVSPACE_TESTS_SPEECH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/wire/deframer.h"
#include "tree/wire/packer.h"
#include "tree/link/tls.h"

/** How long a handshake may take, and whoever does not read is waited for, in ms. */
#define SPEECH_PATIENCE 20000

/** Plain data; changed by the functions here only. */
struct speech {
	int fd;
	SSL *ssl;
	struct arena arena;
	struct deframer in;
	struct bytes gathered; /* whole frames that are said with the next ones */
	struct packer *packer; /* NULL: its next piece begins anew */
};

/** How frames were said. */
struct speech_counts {
	unsigned long frames, fragments, writes_of_many, pieces, damaged;
};
extern struct speech_counts speech_counts;

/** Shake hands on a socket that is connected, or -1. False: no. speech_end() in any case. */
bool speech_begin(struct speech *s, int fd, SSL *ssl);
void speech_end(struct speech *s);

/** Write a frame with a body, or NULL, to @to. Returns its bytes. */
size_t speech_put(const Evspace__Frame *frame, const struct batch *body, unsigned char *to);

/** Wait until there is something to read. False: not within @ms. */
bool speech_wait(const struct speech *s, int ms);

/** Drop what has come. False: it is over. */
bool speech_drain(struct speech *s);

/** Say so many bytes at once; who does not read meanwhile is given up. False: it is over. */
bool speech_say(struct speech *s, const unsigned char *data, size_t bytes);

/** Say a frame in some way, maybe not before the next ones; in pieces only if it @packs. */
bool speech_frame(struct speech *s, uint64_t *dice, const unsigned char *frame, size_t bytes,
		  bool packs);

/** Say all that was gathered. */
bool speech_flush(struct speech *s);

#endif
