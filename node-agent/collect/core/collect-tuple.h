/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds tuples of whole words. */
#ifndef EVSPACE_COLLECT_TUPLE_H
#define EVSPACE_COLLECT_TUPLE_H

#include <string.h>

#include "node-agent/segment/element-writer.h"

/* A tuple's words, and back. A load of a whole word stalls if it was stored in halves. */
static inline uint64_t collect_whom(const struct tuple *t)
{
	uint64_t word;

	memcpy(&word, &t->peer, sizeof(word));
	return word;
}

static inline uint64_t collect_what(const struct tuple *t)
{
	uint64_t word;

	memcpy(&word, &t->comm, sizeof(word));
	return word;
}

static inline void collect_words(struct tuple *t, uint64_t bytes, uint64_t whom, uint64_t what)
{
	t->bytes = bytes;
	memcpy(&t->peer, &whom, sizeof(whom));
	memcpy(&t->comm, &what, sizeof(what));
}

/** Set all of @t but its times; no flags. */
static inline __attribute__((always_inline)) void collect_fill(struct tuple *t, uint16_t op,
							       uint32_t comm, int32_t peer,
							       uint32_t tag, uint64_t bytes)
{
	collect_words(t, bytes, element_word((uint32_t)peer, tag),
		      element_word(comm, element_half(op, 0)));
}

/** The same of a collective with number @seq: @on is the collect_classes.on of its communicator,
 * @signature TUPLE_NO_PEER if there is none. */
static inline __attribute__((always_inline)) void collect_fill_numbered(
	struct tuple *t, uint16_t op, uint64_t on, int32_t signature, uint32_t seq, uint64_t bytes)
{
	collect_words(t, bytes, element_word((uint32_t)signature, seq),
		      on | element_word(0, element_half(op, 0)));
}

#endif
