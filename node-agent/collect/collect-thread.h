/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collector keeps for a process and for each of its threads. */
#ifndef EVSPACE_COLLECT_THREAD_H
#define EVSPACE_COLLECT_THREAD_H

#include <stdbool.h>

#include "node-agent/element-writer.h"
#include "node-agent/segment-class.h"
#include "node-agent/segment.h"

/** What a thread is doing; beyond these, it is inside an operation whose mode is the difference. */
#define COLLECT_NEW	0u /* it has no entry in the segment yet */
#define COLLECT_CAREFUL 1u /* idle, and all it enters is entered out of line */
#define COLLECT_IDLE	2u
#define COLLECT_INSIDE	3u

/** The mode, in a thread's state only, of what is traced with another clock than the TSC. */
#define COLLECT_TRACE_MONO MODE_COUNT_OF
/** The same of a thread beyond the reserve: its counts are everybody's, and kept out of line. */
#define COLLECT_SHARED (MODE_COUNT_OF + 1)

/** What a thread needs to write its elements. All zero in a thread that has not written yet. */
struct collect_thread {
	uint32_t state; /* COLLECT_NEW, _CAREFUL, _IDLE, or COLLECT_INSIDE + enum segment_mode */
	uint32_t idle;	/* what it is outside of operations: COLLECT_CAREFUL or COLLECT_IDLE */
	struct segment_thread *entry; /* set before the state leaves COLLECT_NEW */
	struct segment_count *counts; /* by class; nobody reads those of one beyond the reserve */
	struct element_writer
		writers[CHANNEL_PROGRAMS]; /* next is end: see collect_append_slow() */
	uint32_t index;			   /* in the segment's thread table */
	uint32_t spilling;		   /* bit per channel: there is no room for its element */
	const void *site; /* where the operation was called from, if collect.sites */
};

/** The numbers of a communicator's classes; SEGMENT_CLASS_FRESH: not made yet. */
struct collect_classes {
	uint32_t comm;	     /* its id; 0: none on record */
	uint32_t numbered;   /* channels (bits) whose calls get their numbers only when collected */
	_Atomic uint64_t on; /* what tuples with numbers say: the id, TUPLE_UNNUMBERED perhaps */
	_Atomic uint16_t of[CHANNEL_MAX];
};

/** What a process needs. */
struct collect {
	const _Atomic uint8_t *mode; /* by class, enum segment_mode; never NULL */
	bool sites;		     /* some channel is split by call sites */
	enum clock_kind clock;
	struct segment segment; /* header NULL: nothing is collected */
	uint32_t capacity[CHANNEL_MAX];
	uint8_t split[CHANNEL_MAX]; /* enum segment_split */
};

extern struct collect collect __attribute__((visibility("hidden")));
#ifdef EVSPACE_DOOR
/* It lies in the door (door.h): what is loaded later gets no such memory. */
extern __thread struct collect_thread collect_self __asm__("evspace_door_thread")
	__attribute__((tls_model("initial-exec"), visibility("default")));
#else
extern __thread struct collect_thread collect_self __attribute__((tls_model("initial-exec")));
#endif

/** The classes of operations that are on no communicator. */
extern struct collect_classes collect_none __attribute__((visibility("hidden")));

#endif
