/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door: the one library that is preloaded (libevspace-mpi.so). It defines all MPI functions,
 * and when the first of them is called it loads the collector for the program's MPI from its own
 * folder: libevspace-openmpi.so or libevspace-mpich.so. In a program without MPI it does nothing.
 */
#ifndef EVSPACE_DOOR_H
#define EVSPACE_DOOR_H

#include <stdint.h>

#include "node-agent/collect/core/collect.h"

/*
 * Order: program, tools in front of us in LD_PRELOAD, the door, tools behind us, MPI library. A
 * tool that defines MPI_X passes calls on to what is behind it: by dlsym(RTLD_NEXT, "MPI_X"), or by
 * PMPI_X, which means the library past all others. A call by PMPI_X from a tool in front of us has
 * not passed MPI_X here, so it is recorded at PMPI_X.
 */

/** How a function's calls are routed. Pointers are functions with the program's arguments. */
struct door_way {
	const char *name;	 /* "PMPI_Send"; from its second letter on, the MPI name */
	void *_Atomic enter;	 /* MPI_X calls this: the collector's, or the next one */
	void *_Atomic quiet;	 /* MPI_X calls this while its whole channel is off */
	void *_Atomic profiling; /* PMPI_X calls this: the library's, or inner */
	void *inner;		 /* records a call by PMPI_X from a tool in front */
	void *onward;		 /* from the collector to next or real, by how the call came */
	void *_Atomic wrapper, *_Atomic next, *_Atomic real; /* for inner and onward */
	void *_Atomic taken; /* goes before the library's own; NULL: none does */
};

/** By name (mpi-door.c, generated). */
extern struct door_way door_ways[] __attribute__((visibility("hidden")));
extern const unsigned door_ways_n;

/** By channel: is all of it off (segment_control.quiet)? Without a segment all are. */
extern const _Atomic uint8_t *_Atomic door_quiet __attribute__((visibility("hidden")));

/** Is nothing collected of this channel? */
static inline int door_is_quiet(unsigned channel)
{
	const _Atomic uint8_t *quiet = atomic_load_explicit(&door_quiet, memory_order_relaxed);

	return __builtin_expect(atomic_load_explicit(&quiet[channel], memory_order_relaxed), 0);
}

/** At the first call of MPI_X or PMPI_X (@i in door_ways): find the function for it and all
 * later ones. */
void *door_find(unsigned i);
void *door_find_profiling(unsigned i);

/** May a call by PMPI_X from @frame be recorded? If so, its thread becomes DOOR_INNER. */
static inline int door_inner(uint64_t frame)
{
	struct collect_thread *self = &collect_self;

	if (self->state > COLLECT_IDLE ? !collect_is_left(self, frame)
				       : self->place != DOOR_OUTSIDE)
		return 0;
	self->place = DOOR_INNER;
	return 1;
}

/** What the collector calls to pass the call on. */
static inline void *door_onward(struct door_way *way)
{
	void *to = collect_self.place == DOOR_INNER ? way->real : way->next;

	collect_self.place = DOOR_ONWARD;
	return to;
}

/* ---- for the collectors, which link the door ---- */

/** Bytes of thread-local memory that a collector has in the door: libraries loaded later get
 * none. */
#define DOOR_TYPES_ROOM 288
#define DOOR_COMM_ROOM	32

/** The function that the program would have called without us: for "PMPI_X" the next MPI_X in
 * the order of loading, else PMPI_X itself. NULL: there is none. */
void *evspace_door_next(const char *name) __attribute__((visibility("default")));

/** Have @function go before the library's own for "PMPI_X", whoever calls that. Call it before that
 * function is first asked for. */
void evspace_door_take(const char *name, void *function) __attribute__((visibility("default")));

/** Tell the door that there is a segment; @quiet is from its control page, by channel. */
void evspace_door_watch(const _Atomic uint8_t *quiet) __attribute__((visibility("default")));

/** The MPI library's own @symbol, past all tools: a PMPI_ function or data. NULL: there is none. */
void *evspace_door_own(const char *symbol) __attribute__((visibility("default")));

/**
 * Call @look with a handle of each loaded object but the program, in the order of loading, until it
 * returns something other than NULL. Returns that, and leaves the object open so that it stays
 * valid; or NULL: nothing was found, or there is no memory. Not for the collector's path.
 */
void *objects_search(void *(*look)(void *object, const char *path, void *arg), void *arg);

#endif
