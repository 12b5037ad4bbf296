/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's data for a process and for each of its threads. */
#ifndef EVSPACE_COLLECT_THREAD_H
#define EVSPACE_COLLECT_THREAD_H

#include <stdbool.h>

#include "node-agent/collect/core/collect-stack.h"
#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-timed.h"
#include "node-agent/segment/segment.h"

/** A thread's state. Greater values: it is inside an operation, and its state is the caller's
 * frame plus the mode. */
#define COLLECT_NEW	0u /* it has no entry in the segment yet */
#define COLLECT_CAREFUL 1u /* idle, and enters all operations out of line */
#define COLLECT_IDLE	2u
#define COLLECT_ENDED	(~(uint64_t)7 | MODE_OFF) /* inside forever: no frame is above it */
#define COLLECT_BARRED	(COLLECT_ENDED - 8)	  /* likewise: it is not to be collected */

/** Tracing with another clock than the TSC; a mode in a thread's state only. */
#define COLLECT_TRACE_MONO MODE_COUNT_OF
/** Likewise: counted, as another one of its class is recorded (MODE_ONE_IN). No clock is read, but
 * for what outlives the call (collect_started()). */
#define COLLECT_PASSED (MODE_COUNT | 4)
/** Likewise, of a thread beyond the reserve: its counts are shared, and added to out of line. */
#define COLLECT_SHARED 7

_Static_assert(COLLECT_SHARED < 8, "modes fit below a frame, which is a multiple of 8");
_Static_assert(COLLECT_TRACE_MONO < COLLECT_PASSED, "modes differ");

/** The caller of an operation. */
struct collect_caller {
	const void *site; /* return address */
	uint64_t frame;	  /* stack address: the frames of all that the operation calls are below */
};

/** The caller of the function that this is used in, which is the one that the program called. */
#define COLLECT_CALLER \
	((struct collect_caller){__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa()})

/** Where a thread is in a call that can come by both names (door.h). */
enum door_place {
	DOOR_OUTSIDE,
	DOOR_INNER,  /* came by PMPI_X: continues to the library */
	DOOR_ONWARD, /* recorded: calls by PMPI_X on the way are part of it */
};

/** What a thread needs to write its elements. All zero in a thread that has not written yet. */
struct collect_thread {
	uint64_t state; /* COLLECT_NEW, _CAREFUL, _IDLE, _ENDED, _BARRED, or collect_caller.frame +
			   mode */
	const void *site;	      /* where the operation that it is in was called from */
	struct segment *segment;      /* that it writes to, if it is not COLLECT_NEW */
	struct segment_thread *entry; /* set before the state leaves COLLECT_NEW */
	struct segment_count *counts; /* by class; unread of one beyond the reserve */
	uint64_t timing;	      /* since when the present operation is timed, 0: it is not */
	struct element_writer
		writers[CHANNEL_PROGRAMS]; /* next == stop: see collect_append_slow() */
	uint32_t index;			   /* in the segment's thread table */
	uint32_t spilling;		   /* bit per channel: no room for its element */
	uint64_t chance;		   /* the last random number; 0: none yet */
	uint8_t idle;  /* what it is outside of operations: COLLECT_CAREFUL or COLLECT_IDLE */
	uint8_t place; /* enum door_place */
	/* of what collecting costs (collect-timing.h) */
	uint8_t armed;	   /* 1 + channel: its next operation, entered out of line, is timed */
	uint16_t patience; /* for so many other operations */
	uint8_t passes;	   /* operations without an event until one is timed: it is the next, if 1;
			    * 0: not chosen yet */
	uint8_t extra;	   /* the present one is such: readings of the clock that others lack */
	uint8_t left[CHANNEL_PROGRAMS]; /* events before one is timed, beyond those until stop */
	uint16_t drawn;			/* channels (bits) of which one was chosen */
	struct segment_timed *timed;	/* by channel; NULL: nowhere to write it */
	uint64_t completions;		/* of this thread, when the present operation began */
};

/** The numbers of a communicator's classes; SEGMENT_CLASS_FRESH: not made yet. */
struct collect_classes {
	uint32_t comm;	       /* its id; 0: none on record */
	uint32_t numbered;     /* channels (bits) whose calls are numbered only while collected */
	_Atomic uint32_t next; /* number of the next collective */
	_Atomic uint64_t on;   /* what tuples with numbers say: the id, TUPLE_UNNUMBERED perhaps */
	_Atomic uint16_t of[CHANNEL_MAX];
};

struct properties;

/** What a process needs. */
struct collect {
	const _Atomic uint8_t *_Atomic mode; /* by class, enum segment_mode; never NULL */
	bool sites;			     /* some channel is split by call sites */
	bool alone; /* only the program itself calls functions by these names, not the library */
	enum clock_kind clock;
	struct segment *_Atomic segment; /* never NULL; header NULL: nothing is collected */
	uint32_t capacity[CHANNEL_MAX];
	const struct properties *properties; /* of elements by name; NULL: none */
	bool bars;		    /* threads beyond the reserve are not to be collected */
	uint8_t split[CHANNEL_MAX]; /* enum segment_split */
};

extern struct collect collect __attribute__((visibility("hidden")));
#ifdef EVSPACE_DOOR
/* It is in the door (door.h): libraries that are loaded later get hardly any thread-local
 * memory. */
extern __thread struct collect_thread collect_self __asm__("evspace_door_thread")
	__attribute__((tls_model("initial-exec"), visibility("default")));
#else
extern __thread struct collect_thread collect_self __attribute__((tls_model("initial-exec")));
#endif

/** The classes of operations that are on no communicator. */
extern struct collect_classes collect_none __attribute__((visibility("hidden")));

/* Bytes of one frame: calls with many arguments pass some of them on the stack. */
#define COLLECT_ARGUMENTS 64

/**
 * A thread inside an operation enters another one from @frame: was the first left by an exception
 * or longjmp(3)? It was if the new caller's frame is not below it, or if its return address is no
 * longer there, as far as that can be read. False: the new operation is nested in it.
 */
static inline __attribute__((no_sanitize("address"))) bool collect_is_left(
	const struct collect_thread *self, uint64_t frame)
{
	uint64_t outer = self->state & ~(uint64_t)7;

	if (self->state >= COLLECT_BARRED)
		return false;
	if (frame + COLLECT_ARGUMENTS >= outer)
		return true;
#if defined(__x86_64__)
	/* a call that has not returned has its return address just below its arguments */
	outer -= sizeof(void *);
	if (!collect_stack_stays(outer, frame))
		return collect_stack_lacks(outer, self->site);
	return *(const void *volatile *)(uintptr_t)outer != self->site;
#else
	return false;
#endif
}

#endif
