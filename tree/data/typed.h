/* SPDX-License-Identifier: BSD-3-Clause */
/* Typed tuples on the way: those of programs' own elements, in runs that say their type themselves.
 */
#ifndef EVSPACE_TYPED_H
#define EVSPACE_TYPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/clock.h"
#include "tree/data/fields.h"

/**
 * Eight bytes of such a run (RUN_TYPED), the same on all machines. First a word with the byte order
 * of who wrote the tuples, and how many words follow for their type as text and for each tuple;
 * then the text, and the tuples: a time, in ticks of the part's clock (0: not known), and its
 * fields.
 */
struct typed_word {
	unsigned char bytes[8];
};

/** Most words of a run before its tuples, and of a tuple. */
#define TYPED_HEAD  (1 + FIELDS_TEXT / 8)
#define TYPED_TUPLE (1 + FIELDS_BYTES / 8)

/** What a run says of itself. */
struct typed_run {
	const char *text; /* the type, in the run, */
	struct fields fields;
	uint32_t n;	/* tuples */
	uint32_t words; /* of each */
	bool swapped;	/* their byte order is not ours */
	const struct typed_word *tuples;
};

/** Words of the head for @text. */
uint32_t typed_head_words(const char *text);

/** Words of a tuple of @fields, with its time. */
static inline uint32_t typed_tuple_words(const struct fields *fields)
{
	return 1 + (fields->bytes + 7) / 8;
}

/** Write the head of tuples of @fields, whose type as text is @text, with this machine's byte
 * order. Returns where the first one belongs. */
struct typed_word *typed_head(struct typed_word *to, const struct fields *fields, const char *text);

/** Write a tuple of @bytes. Returns where the next one belongs. */
struct typed_word *typed_put(struct typed_word *to, uint64_t ticks, const void *tuple,
			     uint32_t bytes);

/** Read a run of @count words, from a peer perhaps. False: it is none. */
bool typed_read(struct typed_run *run, const struct typed_word *words, uint32_t count);

/** Types that a check of many runs has read last, by their runs, and what reading them has cost;
 * zeroed: none. */
struct typed_seen {
	const struct typed_word *of[8];
	unsigned next;
	size_t cost;
};

/** The same as typed_read() of one of many runs, whose words stay: types of late are not read
 * again. A million different ones are none, as reading them would take too long. */
bool typed_sound(struct typed_seen *seen, const struct typed_word *words, uint32_t count);

/** Its tuples, 0 if it is none. */
uint32_t typed_count(const struct typed_word *words, uint32_t count);

/** The time of a tuple, in ticks, and its fields, which lie as in memory. */
uint64_t typed_ticks(const struct typed_word *tuple);

static inline void *typed_fields(const struct typed_word *tuple)
{
	return (void *)(uintptr_t)(tuple + 1);
}

/** Change the tuples of the run in place so that they have this machine's byte order. */
void typed_own(struct typed_word *words, uint32_t count);

/** Make the times nanoseconds by @line, in place. */
void typed_to_ns(struct typed_word *words, uint32_t count, const struct clock_line *line);

#endif
