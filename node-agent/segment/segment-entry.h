/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of a segment's tables: threads with their state and counts, elements,
 * communicators, classes.
 */
#ifndef EVSPACE_SEGMENT_ENTRY_H
#define EVSPACE_SEGMENT_ENTRY_H

#include <stdatomic.h>
#include <stdint.h>

/**
 * State line: what a thread is doing now. 64 bytes, written by the thread alone. The words are
 * those of the tuple that it will write; `what` is written last and is 0 outside any operation.
 * Read it with segment_state().
 */
struct segment_state {
	_Atomic uint64_t what; /* comm, op, flags as in a tuple */
	_Atomic uint64_t since;
	_Atomic uint64_t bytes;
	_Atomic uint64_t whom;	/* peer, seq_or_tag as in a tuple */
	_Atomic uint64_t polls; /* Test and Probe calls that found nothing: counted, not recorded */
	_Atomic uint64_t site;	/* return address of the call; 0: not known */
	uint64_t spare[2];
};

/** Exact counts per thread and class, kept in every mode but off. */
struct segment_count {
	_Atomic uint64_t calls;
	_Atomic uint64_t bytes;
	_Atomic uint64_t ticks;	  /* time spent in calls while the mode was time or trace */
	_Atomic uint64_t skipped; /* calls that wrote no tuple because of the mode */
};

/** Regions of a program that can be open in a thread at once. */
#define SEGMENT_REGIONS 8

/** Regions, phase and iteration of a thread (evspace.h), written by the thread alone. */
struct segment_user {
	_Atomic uint64_t depth;	    /* regions that are open */
	_Atomic uint64_t iteration; /* 1 + number of the last complete one, 0: none */
	_Atomic uint64_t iterated;  /* when it ended */
	_Atomic uint64_t phase;	    /* label (segment-table.h), 0: none */
	_Atomic uint64_t phase_since;
	uint64_t spare[3];
	struct {
		_Atomic uint64_t label, since; /* with SEGMENT_REGION_FUNCTION, if it is one */
	} regions[SEGMENT_REGIONS];
};

/** One thread of the process. */
struct segment_thread {
	struct segment_state state;
	struct segment_user user;
	uint32_t tid;	       /* kernel thread id */
	_Atomic uint32_t used; /* set (release) when the entry is complete */
	uint32_t pad[14];
};

/** Thread number of an overflow element: no thread of the table. */
#define SEGMENT_NO_THREAD UINT32_MAX

/** What a channel of a thread is split by: it has an element for each (docs/glossary.md). */
enum segment_split { SPLIT_THREAD, SPLIT_COMM, SPLIT_OP, SPLIT_SITE, SPLIT_COUNT };

/** One element: where its ring is and what it records. */
struct segment_element {
	uint64_t ring_at; /* offset in the file */
	uint32_t capacity;
	uint32_t thread; /* index in the thread table; SEGMENT_NO_THREAD: the overflow element */
	uint16_t channel;
	uint8_t split; /* enum segment_split */
	uint8_t pad;
	_Atomic uint32_t used; /* set (release) when the entry is complete */
	uint64_t key; /* 0, or the communicator's id, the operation, the call's return address */
};

/** One communicator that the process is a member of. */
struct segment_comm {
	uint32_t id;	  /* the same on all members; never 0 */
	uint32_t parent;  /* id of the communicator that it was made from, 0 for the world */
	uint32_t size;	  /* members */
	uint32_t members; /* index of the first in the member array (world ranks), or: */
#define SEGMENT_MEMBERS_WORLD	(UINT32_MAX - 1) /* rank i is world rank i */
#define SEGMENT_MEMBERS_UNKNOWN UINT32_MAX
	_Atomic uint32_t used;
	_Atomic uint32_t left; /* 1: it is freed, and the entry can be reused */
	_Atomic uint32_t made; /* 0, or its ordinal among reused entries */
	uint32_t pad;
};

/** The state of an entry of the class table. */
enum segment_class_use {
	SEGMENT_CLASS_USED = 1, /* its communicator exists */
	SEGMENT_CLASS_LEFT,	/* its communicator is freed: the entry can be reused */
	SEGMENT_CLASS_REMADE,	/* a thread is reusing it */
};

/**
 * A class: an operation group on a communicator. The first CHANNEL_MAX are those of operations on
 * no known communicator; others are made when they are first needed.
 *
 * An entry keeps its channel forever, and its counts only grow, so that the sum over all classes of
 * a channel is always exact. `before` is what was counted for earlier communicators; readers move
 * it to the channel's class of no communicator.
 */
struct segment_class {
	_Atomic uint32_t comm; /* id; 0: none on record */
	uint16_t channel;
	uint16_t pad;
	_Atomic uint32_t
		used; /* enum segment_class_use; set (release) when the entry is complete */
	_Atomic uint32_t made; /* counts up before and after `comm` and `before` change */
	_Atomic uint64_t left; /* its ordinal among freed ones: the oldest is reused first */
	struct segment_count before;
	uint64_t pad1;
};

_Static_assert(sizeof(struct segment_state) == 64, "a state line is one cache line");
_Static_assert(sizeof(struct segment_thread) % 64 == 0, "threads do not share cache lines");
_Static_assert(sizeof(struct segment_count) == 32, "counts are 32 bytes");
_Static_assert(sizeof(struct segment_element) == 32, "element entries are 32 bytes");
_Static_assert(sizeof(struct segment_class) == 64, "class entries are 64 bytes");
_Static_assert(sizeof(struct segment_comm) == 32, "communicator entries are 32 bytes");

#endif
