/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of operations (operation group x communicator) and their counts, over processes and
 * hosts. */
#ifndef EVSPACE_CLASSES_H
#define EVSPACE_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/wire/wire.h"

/** Bytes of a class's name. */
#define CLASS_TEXT 40

/** Most classes, or patterns of them, in one command. */
#define CHOICES_MAX 64u

/** Most classes that are kept apart; further ones are added to those of no communicator. */
#define CLASSES_MAX 65536u

/** One class: the sum over all processes that have it in this mode. Plain data. */
struct class_sum {
	uint32_t comm; /* id; 0: unknown */
	uint16_t channel;
	uint8_t mode; /* enum segment_mode */
	bool world;   /* the communicator is the processes' world */
	uint32_t processes;
	uint64_t calls, bytes;
	uint64_t time_ns; /* in calls that were recorded, or made in mode `time` */
	uint64_t skipped; /* calls without a tuple, because of the mode */
};

/** A set of classes. Aborts when there is no memory. */
struct classes;
struct classes *classes_new(void);
void classes_free(struct classes *classes);

/** Add @sum to that of the same class and mode. O(1). */
void classes_add(struct classes *classes, const struct class_sum *sum);

/** Add one from a peer. */
void classes_add_wire(struct classes *classes, const Evspace__Class *message);

/** Their number, and the one at @i, sorted by channel, then the world first, then by communicator
 * and mode. */
size_t classes_count(const struct classes *classes);
const struct class_sum *classes_at(struct classes *classes, size_t i);

/** All of them as messages of @run (NULL: without), for a protobuf list of classes_count() items;
 * one block of memory for the caller to free(). */
Evspace__Class **classes_wire(struct classes *classes, const char *run);

/** "p2p@world", "p2p@1a2b3c4d", or "p2p" for a class without communicator. Returns @buf. */
const char *class_name(const struct class_sum *sum, char buf[CLASS_TEXT]);

/** Parse which classes @text means: "p2p", "p2p@world", "all" or "all@1a2b3c4d". Returns 0, or -1
 * with EINVAL and @e, which says what is valid. */
int class_choice(const char *text, Evspace__Choice *choice, struct error *e);

#endif
