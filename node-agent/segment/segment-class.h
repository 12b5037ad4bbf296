/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of operations in a segment: their numbers, switches and exact counts. */
#ifndef EVSPACE_SEGMENT_CLASS_H
#define EVSPACE_SEGMENT_CLASS_H

#include "node-agent/segment/segment.h"

/** Sums of counts, as plain numbers. */
struct segment_sum {
	uint64_t calls, bytes, ticks, skipped;
};

/** The name of a mode ("trace", "off", "count", "time", "sample", "1/2" to "1/65536"), "trial" of a
 * class that an experiment counts by, or "?". */
const char *segment_mode_name(unsigned mode);

/** The mode with this name, or -1. */
int segment_mode_find(const char *name);

/** Can a class be switched to @mode? */
int segment_mode_valid(unsigned mode);

/** The name of what a channel is split by ("thread", "comm", "op", "site"), or "?"; and back. */
const char *segment_split_name(unsigned split);
int segment_split_find(const char *name);

/* ---- writer: only libc, no system call, no lock ---- */

/** Make the classes of no communicator; every mode is trace. */
void segment_class_init(struct segment *s);

/** How many classes of freed communicators each channel keeps for readers: the last ones. */
#define SEGMENT_CLASSES_LEFT 16u

/**
 * The number of the class of @channel on communicator @comm (its id; 0: none). Makes it if it is
 * missing, in the mode that the control page has for later ones. Without room it is the class of no
 * communicator (noted in the header). Two threads at once may make it twice: its counts are then
 * the sum of both.
 */
uint32_t segment_class_make(struct segment *s, uint32_t comm, unsigned channel);

/**
 * The communicator @comm is freed: others may reuse its classes, the oldest ones first and the last
 * SEGMENT_CLASSES_LEFT of a channel only when there is no other room. Late counts go to the new
 * communicator, so that sums over a channel stay exact.
 */
void segment_class_leave(struct segment *s, uint32_t comm);

/** Clear MODE_MISSED of class @class. Returns its mode. */
unsigned segment_class_resume(struct segment *s, uint32_t class);

/** Would a class of @channel that is made now be off, or have missed calls? */
int segment_class_missed(const struct segment *s, unsigned channel);

/** The counts of a thread, one for each class. Thread layout.threads_max stands for all threads
 * beyond the reserve, which add to its counts atomically (segment_count_share()). */
struct segment_count *segment_counts_of(struct segment *s, uint32_t thread);

/** Add a call to the counts that threads beyond the reserve share. */
void segment_count_share(struct segment *s, uint32_t class, const struct segment_sum *call);

/* ---- reader ---- */

/** Classes of a mapped segment: their number (never more than fit), and each; NULL: not complete
 * yet. */
uint32_t segment_classes(const struct segment *s);
const struct segment_class *segment_class(const struct segment *s, uint32_t i);

/** The counts of thread @thread (layout.threads_max: of those beyond the reserve) and class @class;
 * NULL: out of range. */
const struct segment_count *segment_count(const struct segment *s, uint32_t thread, uint32_t class);

/** Add a thread's counts of all classes of @channel to *@sum; layout.threads_max as above. */
void segment_channel_sum(const struct segment *s, uint32_t thread, unsigned channel,
			 struct segment_sum *sum);

/** The counts of all threads in a class. */
struct segment_class_sum {
	uint32_t comm; /* id; 0: none */
	unsigned channel;
	unsigned mode;		   /* enum segment_mode */
	struct segment_sum own;	   /* on the communicator */
	struct segment_sum before; /* on its earlier communicators: add it to the channel's class of
				      no communicator */
};

/** Read class @i, which its process may be reusing meanwhile. Returns 0, or -1: not complete
 * yet. */
int segment_class_read(const struct segment *s, uint32_t i, struct segment_class_sum *sum);

/**
 * Switch classes to @mode on the control page: those of @channel (-1: of all) and of the
 * communicator @comm (NULL: of all, also of later ones). The program sees it at its next call.
 * Returns how many classes are meant, also those that have the mode already. Call
 * segment_class_quiet() after the last switch.
 */
uint32_t segment_class_switch(struct segment_control *control, const struct segment *s, int channel,
			      const uint32_t *comm, enum segment_mode mode);

/** Tell the program which channels are off as a whole. Call it once after all switching, as it
 * reads all classes. */
void segment_class_quiet(struct segment_control *control, const struct segment *s);

#endif
