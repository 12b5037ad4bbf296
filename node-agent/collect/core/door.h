/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door: the one library that is preloaded (libevspace-mpi.so). It has all MPI functions' names,
 * and when the first of them is called it lets the collector for the program's MPI in, which lies
 * beside it: libevspace-openmpi.so or libevspace-mpich.so. In a program without MPI it does
 * nothing.
 */
#ifndef EVSPACE_DOOR_H
#define EVSPACE_DOOR_H

#include <stdint.h>

#include "node-agent/collect/core/collect.h"

/*
 * Order: program, tools in front of us in LD_PRELOAD, we, tools behind us, MPI library. Whoever
 * defines MPI_X passes on to what is behind it: by dlsym(RTLD_NEXT, "MPI_X"), or by PMPI_X, which
 * means the library past all others. A call that comes from somebody in front of us who has done
 * the latter has not been at MPI_X here: then PMPI_X is where it is recorded.
 */

/** A function's way through the door. Pointers are functions with the program's arguments. */
struct door_way {
	const char *name;	 /* "PMPI_Send"; behind the first letter, what the program calls */
	void *_Atomic enter;	 /* where MPI_X goes: the collector's, or the next one */
	void *_Atomic quiet;	 /* where it goes at once while all of its channel is off */
	void *_Atomic profiling; /* where PMPI_X goes: the library's, or inner */
	void *inner;		 /* records a call that comes by PMPI_X from somebody in front */
	void *onward;		 /* from the collector to next or real, as the call has come */
	void *_Atomic wrapper, *_Atomic next, *_Atomic real; /* for inner and onward */
};

/** By name (mpi-door.c, generated). */
extern struct door_way door_ways[] __attribute__((visibility("hidden")));
extern const unsigned door_ways_n;

/** By channel: is all of it off (segment_control.quiet)? While there is no segment: all is. */
extern const _Atomic uint8_t *_Atomic door_quiet __attribute__((visibility("hidden")));

/** Is there nothing to be done for a call of this channel? */
static inline int door_is_quiet(unsigned channel)
{
	const _Atomic uint8_t *quiet = atomic_load_explicit(&door_quiet, memory_order_relaxed);

	return __builtin_expect(atomic_load_explicit(&quiet[channel], memory_order_relaxed), 0);
}

/** The first call of MPI_X or PMPI_X (@i in door_ways): where it and all others go. */
void *door_find(unsigned i);
void *door_find_profiling(unsigned i);

/** May a call that comes by PMPI_X from @frame be recorded? Then it is on its way in. */
static inline int door_inner(uint64_t frame)
{
	struct collect_thread *self = &collect_self;

	if (self->state > COLLECT_IDLE ? !collect_is_left(self, frame)
				       : self->place != DOOR_OUTSIDE)
		return 0;
	self->place = DOOR_INNER;
	return 1;
}

/** The collector goes on to where the call wants to go. */
static inline void *door_onward(struct door_way *way)
{
	void *to = collect_self.place == DOOR_INNER ? way->real : way->next;

	collect_self.place = DOOR_ONWARD;
	return to;
}

/* ---- for the collectors, which are linked with the door ---- */

/** Bytes of thread-local memory that a collector has in the door: what is loaded later gets none.
 */
#define DOOR_TYPES_ROOM 256
#define DOOR_COMM_ROOM	32

/**
 * The function behind us that the program would have called without us: of "PMPI_X" the next MPI_X
 * in the order of loading, else PMPI_X itself. NULL: there is none.
 */
void *evspace_door_next(const char *name) __attribute__((visibility("default")));

/** There is a segment now: @quiet is what its control page says of channels. */
void evspace_door_watch(const _Atomic uint8_t *quiet) __attribute__((visibility("default")));

/** The MPI library's own @symbol, past all tools: a PMPI_ function or data. NULL: there is none. */
void *evspace_door_own(const char *symbol) __attribute__((visibility("default")));

#endif
