/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collector keeps for a process and for each of its threads. */
#ifndef EVSPACE_COLLECT_THREAD_H
#define EVSPACE_COLLECT_THREAD_H

#include <stdbool.h>

#include "node-agent/collect/core/collect-stack.h"
#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment.h"

/**
 * What a thread is doing; beyond these, it is inside an operation, and its state is the caller's
 * frame plus the mode.
 */
#define COLLECT_NEW	0u /* it has no entry in the segment yet */
#define COLLECT_CAREFUL 1u /* idle, and all it enters is entered out of line */
#define COLLECT_IDLE	2u
#define COLLECT_ENDED	(~(uint64_t)7 | MODE_OFF) /* inside for ever: nothing lies above */

/** The mode, in a thread's state only, of what is traced with another clock than the TSC. */
#define COLLECT_TRACE_MONO MODE_COUNT_OF
/** The same of a thread beyond the reserve: its counts are everybody's, and kept out of line. */
#define COLLECT_SHARED (MODE_COUNT_OF + 1)

_Static_assert(COLLECT_SHARED < 8, "modes fit below a frame, which is a multiple of 8");

/** Who has called an operation. */
struct collect_caller {
	const void *site; /* where it goes on */
	uint64_t frame;	  /* of the stack: all that the operation calls lies below */
};

/** The caller of the function that this stands in: of the one that the program has called. */
#define COLLECT_CALLER \
	((struct collect_caller){__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa()})

/** Where a thread is with a call that can come by both names (door.h). */
enum door_place {
	DOOR_OUTSIDE,
	DOOR_INNER,  /* came by PMPI_X: goes on to the library */
	DOOR_ONWARD, /* recorded: what others call by PMPI_X on the way belongs to it */
};

/** What a thread needs to write its elements. All zero in a thread that has not written yet. */
struct collect_thread {
	uint64_t state;	  /* COLLECT_NEW, _CAREFUL, _IDLE, _ENDED, or collect_caller.frame + mode */
	const void *site; /* where the operation that it is in was called from */
	struct segment *segment;      /* that it writes to, if it is not COLLECT_NEW */
	struct segment_thread *entry; /* set before the state leaves COLLECT_NEW */
	struct segment_count *counts; /* by class; nobody reads those of one beyond the reserve */
	struct element_writer
		writers[CHANNEL_PROGRAMS]; /* next is end: see collect_append_slow() */
	uint32_t index;			   /* in the segment's thread table */
	uint32_t spilling;		   /* bit per channel: there is no room for its element */
	uint8_t idle;  /* what it is outside of operations: COLLECT_CAREFUL or COLLECT_IDLE */
	uint8_t place; /* enum door_place */
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
	bool alone; /* nobody but the program calls functions by the names that programs use */
	enum clock_kind clock;
	struct segment *_Atomic segment; /* never NULL; header NULL: nothing is collected */
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

/* Of one frame: calls with more arguments have some of them on the stack. */
#define COLLECT_ARGUMENTS 64

/**
 * A thread that is inside an operation calls one from @frame: has the first one been left, by an
 * exception or longjmp(3)? It has if the new caller is not below it, or, as far as that can be
 * seen, if what lay there is not there any more. False: the new one is called within it.
 */
static inline __attribute__((no_sanitize("address"))) bool collect_is_left(
	const struct collect_thread *self, uint64_t frame)
{
	uint64_t outer = self->state & ~(uint64_t)7;

	if (self->state == COLLECT_ENDED)
		return false;
	if (frame + COLLECT_ARGUMENTS >= outer)
		return true;
#if defined(__x86_64__)
	/* who is still to return there finds the address on top of what it was called with */
	outer -= sizeof(void *);
	if (!collect_stack_stays(outer, frame))
		return collect_stack_lacks(outer, self->site);
	return *(const void *volatile *)(uintptr_t)outer != self->site;
#else
	return false;
#endif
}

#endif
