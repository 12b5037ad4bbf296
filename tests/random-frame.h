/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames as bytes that are valid and mean nothing: every field that the descriptors know, at
 * random.
 */
#ifndef EVSPACE_TESTS_RANDOM_FRAME_H
#define EVSPACE_TESTS_RANDOM_FRAME_H

#include <stddef.h>
#include <stdint.h>

/** Room for any of them. */
#define RANDOM_FRAME_BYTES (1u << 20)

/** What they are made of. @scope and @wave are said where such numbers belong, more often than not.
 */
struct random_frame {
	uint64_t dice;
	uint32_t scope;
	uint64_t wave;
};

/** A frame of @kind (the number of its field in Frame) at @to. Returns its bytes. */
size_t random_frame(struct random_frame *r, unsigned kind, unsigned char *to);

/** The same with a body that batch_check() accepts: an answer. */
size_t random_answer(struct random_frame *r, unsigned char *to);

/** How many ways lead round in the descriptors from a frame to a message within one of its own. */
unsigned random_rounds(void);

/** The kind of frame in which that way begins. */
unsigned random_round_kind(unsigned round);

/** A frame that goes one of these ways until @depth messages are within each other. */
size_t random_round(unsigned round, unsigned depth, unsigned char *to);

#endif
