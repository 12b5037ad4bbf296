/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a program's element: a file of its own in its run's folder. */
#ifndef EVSPACE_PASTSET_LAYOUT_H
#define EVSPACE_PASTSET_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "tree/data/clock.h"
#include "tree/data/fields.h"

#define PASTSET_MAGIC	"EVELEMT"
#define PASTSET_VERSION 1u
#define PASTSET_PAGE	4096u

/** Most tuples of an element, and most readers that a writer waits for. */
#define PASTSET_CAPACITY_MAX (1u << 24)
#define PASTSET_READERS	     64u

/** Bytes of an element's name, with its final 0. */
#define PASTSET_NAME 64

/** The first page: written before the file gets its name, and never changed. */
struct pastset_header {
	char magic[8];
	uint32_t version;
	uint32_t capacity; /* tuples that it holds; it has one slot more (pastset_slots()) */
	uint64_t byte_order;
	uint64_t size;	     /* bytes of the file */
	uint32_t slot_bytes; /* of a tuple with its time, whole words */
	int32_t wait_ms; /* how long a writer waits for readers; 0: the oldest is overwritten; -1:
			    for ever */
	uint32_t clock_kind;
	uint32_t uid;
	struct clock_pair born;
	int64_t born_real_ns;
	char boot_id[40];
	char name[PASTSET_NAME];
	char run[64];
	char host[64];
	char program[128];
	char fields[FIELDS_TEXT]; /* fields_text() */
	char made_by[64];     /* the node whose agent has made it, as the map says; "": a program */
	int32_t rank_and_one; /* its maker's rank, as its launcher says, + 1; 0: not known */
};

/** The second page: what its users tell each other. Who maps it takes nothing in it on trust. */
struct pastset_live {
	_Atomic uint64_t head; /* tuples ever written; tuple n is in slot n % slots */
	char pad[56];
	/* 1: readers sleep on the low half of the head, or one begins. The writer sets 0 before it
	 * wakes them. */
	_Atomic uint32_t awaited;
	char pad2[60];
	/* 1: the writer sleeps on this. A reader that has read sets 0 before it wakes it. */
	_Atomic uint32_t full;
	_Atomic uint32_t writer; /* its process, for messages; 0: none yet */
};

/**
 * The third page: a line for each reader that the writer waits for, 1 + the number of the tuple
 * that it reads next, 0: none. Who has one holds a lock (fcntl(2), F_OFD_SETLK) on the file's byte
 * of the same number, which the kernel drops when it ends. The writer's is byte PASTSET_READERS.
 */
struct pastset_reader {
	_Atomic uint64_t next;
	char pad[56];
};

/** Behind these the slots: a time in ticks, and the tuple. */
#define PASTSET_LIVE_AT	   (1 * PASTSET_PAGE)
#define PASTSET_READERS_AT (2 * PASTSET_PAGE)
#define PASTSET_SLOTS_AT   (3 * PASTSET_PAGE)

/** Slots of an element: while the writer fills one, the others are readable. */
static inline uint64_t pastset_slots(const struct pastset_header *said)
{
	return (uint64_t)said->capacity + 1;
}

/** Words of a tuple of @bytes, without its time. */
static inline uint32_t pastset_words(uint32_t bytes)
{
	return (bytes + 7) / 8;
}

_Static_assert(sizeof(struct pastset_header) <= PASTSET_PAGE, "the header is one page");
_Static_assert(PASTSET_READERS * sizeof(struct pastset_reader) <= PASTSET_PAGE, "one page");

#endif
