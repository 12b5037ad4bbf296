/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of operations in a segment: their numbers, switches and exact counts. */
#ifndef EVSPACE_SEGMENT_CLASS_H
#define EVSPACE_SEGMENT_CLASS_H

#include "node-agent/segment.h"

/** The name of a mode ("trace", "off", "count", "time", "sample"), or "?". */
const char *segment_mode_name(unsigned mode);

/** The mode with this name, or -1. */
int segment_mode_find(const char *name);

/** The name of what a channel is split into ("thread", "comm", "op", "site"), or "?"; and back. */
const char *segment_split_name(unsigned split);
int segment_split_find(const char *name);

/* ---- writer: only libc, no system call, no lock ---- */

/** Put the classes of no communicator on record; every mode is trace. */
void segment_class_init(struct segment *s);

/**
 * The number of the class of @channel on communicator @comm (its id; 0: none), made if it is not
 * there: in the mode that the control page has for later ones. Without room: that of no
 * communicator (noted in the header). Two threads at once may make it twice: its counts then add
 * up over both.
 */
uint32_t segment_class_make(struct segment *s, uint32_t comm, unsigned channel);

/** The counts of a thread: one for each class. */
struct segment_count *segment_counts_of(struct segment *s, uint32_t thread);

/* ---- reader ---- */

/** Classes of a mapped segment: how many (never more than fit), and each; NULL: not complete yet.
 */
uint32_t segment_classes(const struct segment *s);
const struct segment_class *segment_class(const struct segment *s, uint32_t i);

/** The counts of thread @thread and class @class; NULL: out of range. */
const struct segment_count *segment_count(const struct segment *s, uint32_t thread, uint32_t class);

/** Sums of counts, as plain numbers. */
struct segment_sum {
	uint64_t calls, bytes, ticks, skipped;
};

/** Add a thread's counts of all classes of @channel to *@sum. */
void segment_channel_sum(const struct segment *s, uint32_t thread, unsigned channel,
			 struct segment_sum *sum);

/**
 * Switch classes to @mode on the control page: of @channel (-1: of all) and of the communicator
 * @comm (NULL: on all, and those that will be made). The program sees it with its next call.
 * Returns how many classes there are of that kind.
 */
uint32_t segment_class_switch(struct segment_control *control, const struct segment *s, int channel,
			      const uint32_t *comm, enum segment_mode mode);

#endif
