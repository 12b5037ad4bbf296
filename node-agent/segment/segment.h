/* SPDX-License-Identifier: BSD-3-Clause */
/* The segment: one process's part of the event space, a file in shared memory
 * (docs/architecture.md). */
#ifndef EVSPACE_SEGMENT_H
#define EVSPACE_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "node-agent/segment/element.h"
#include "node-agent/segment/segment-layout.h"
#include "pathmap/base/error.h"

/** Default minimum of tuples per element: the paper's discard threshold (section 6). */
#define SEGMENT_CAPACITY 200u

/** Most elements of one process that agents read, as many as a scope has rows: a file may claim
 * more than an agent can walk in one turn of its loop. */
#define SEGMENT_ELEMENTS_READ (1u << 18)

/** What a segment is to hold; zero fields take the defaults. */
struct segment_plan {
	const char *dir; /* the run's folder; must exist */
	const char *run;
	const char *job;   /* the launcher's name of it; NULL: unknown */
	const char *host;  /* NULL: this host's name */
	uint32_t channels; /* bits, by number: channels with elements; default those of programs */
	int32_t rank, world_size;
	uint32_t world;
	uint32_t parent;		/* of a spawned process; else 0 */
	uint32_t threads;		/* reserve of threads; default 8 */
	uint32_t capacity[CHANNEL_MAX]; /* tuples per element; default SEGMENT_CAPACITY */
	uint8_t split[CHANNEL_MAX];	/* enum segment_split */
	uint32_t elements;		/* reserve for each split channel; default 256 */
	uint32_t classes;		/* default 256 */
	uint32_t comms;			/* default 256 */
	uint32_t members;		/* default 16 x world_size, 4096 at least */
	/* bytes of all elements, if their capacities differ; 0: of that one */
	uint64_t rings[CHANNEL_MAX];
	/* of tuples, by channel; 0: until they are overwritten */
	uint64_t lifetime_ns[CHANNEL_MAX];
	uint64_t quota; /* bytes that all of the user's segments may take; default a quarter of the
			   file system */
	bool replaces;	/* remove the oldest ended runs if there is no room */
};

/** A mapped segment, writable in its own process, read-only elsewhere. */
struct segment {
	struct segment_header *header;
	struct segment_layout layout; /* checked copy: the one in the file may change */
	struct segment_header said;   /* likewise, of its constant fields, for readers */
	size_t size;
	int fd; /* -1 once it is not needed */
	char path[256];
	dev_t device;
	ino_t inode;
};

/* For writers; uses only libc, since collectors link it. For readers: segment-read.h. */

/**
 * Make a segment file, mode 0600, its memory reserved (posix_fallocate), under a temporary name;
 * when complete it is renamed to "rankR.PID.seg" ("t40003.PID.seg" of a PVM task, "agent.PID.seg").
 * On failure only an empty file "rankR.PID.refused-REASON" (REASON: no-space, quota, limits,
 * denied) is left, for `evspace status`. Returns 0, or -1 with errno (ENOSPC, EDQUOT, EACCES,
 * EINVAL …) and the remedy in @e.
 */
int segment_create(struct segment *s, const struct segment_plan *plan, struct error *e);

/** Tell `evspace status` that this process has no segment, by a file "rankR.PID.refused-REASON"
 * in the run's folder @dir (store.c has the texts). */
void segment_refuse(int dir, int32_t rank, const char *reason);

/** How many elements of @channel a segment by @plan has room for. */
uint32_t segment_plan_elements(const struct segment_plan *plan, int channel);

/** Unmap; the file stays. NULL-safe, idempotent. */
void segment_close(struct segment *s);

/** Take the next thread entry from the reserve; NULL when it is used up (noted in the header). */
struct segment_thread *segment_thread_add(struct segment *s, uint32_t tid);

/**
 * Take an element from the reserve, with thread, channel, capacity, split and key of @like.
 * Lock-free, no system call. Returns the entry, or NULL when the reserve is used up (noted in the
 * header).
 */
struct segment_element *segment_element_add(struct segment *s, const struct segment_element *like);

/** The lifetime of an element's tuples, which is the channel's at first; 0: until they are
 * overwritten. */
void segment_lifetime_set(struct segment *s, const struct segment_element *entry, uint64_t ns);

/**
 * The ring of an entry, for writers and readers; NULL if its place or capacity does not fit the
 * file. Pass a copy of the entry, and use that copy's capacity: the entry in the file may change.
 */
const struct element_ring *segment_ring(const struct segment *s,
					const struct segment_element *entry);

/** The segment's overflow element (capacity 1, entry 0): tuples written there are counted as
 * lost. */
struct segment_element *segment_overflow(struct segment *s);

/** Count a tuple on the overflow element; any thread, one atomic add. */
void segment_overflow_write(struct segment *s);

/** Take room for @n world ranks from the reserve. NULL when it is used up (noted in the header). */
int32_t *segment_members_take(struct segment *s, uint32_t n);

/** Keep the list of @n members that was put into @room, and return its index for
 * segment_comm.members. If the same list is kept already, @room goes back to the reserve. */
uint32_t segment_members_keep(struct segment *s, const int32_t *room, uint32_t n);

/** The list at index @members (not SEGMENT_MEMBERS_WORLD or _UNKNOWN); it never changes again. */
const int32_t *segment_members_at(const struct segment *s, uint32_t members);

#endif
