/* SPDX-License-Identifier: BSD-3-Clause */
/* The segment: one process's part of the event space, a file in shared memory (DESIGN 5). */
#ifndef EVSPACE_SEGMENT_H
#define EVSPACE_SEGMENT_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "node-agent/element.h"
#include "pathmap/error.h"
#include "tree/clock.h"
#include "tree/op.h"

#define SEGMENT_MAGIC	"EVSPACE"
#define SEGMENT_VERSION 1u
#define SEGMENT_SUFFIX	".seg"
#define SEGMENT_PAGE	4096u

/** Tuples per element unless said otherwise: the paper's discard threshold (section 6). */
#define SEGMENT_CAPACITY 200u

/** Where things are: offsets into the file, and how many fit. */
struct segment_layout {
	uint64_t control_at;
	uint64_t threads_at;
	uint64_t elements_at;
	uint64_t comms_at;
	uint64_t members_at;
	uint64_t rings_at;
	uint64_t rings_bytes;
	uint32_t threads_max;
	uint32_t elements_max;
	uint32_t comms_max;
	uint32_t members_max; /* in int32_t */
};

/** First page: written before the file gets its name, then constant but for the atomics. */
struct segment_header {
	char magic[8];
	uint32_t version;
	uint32_t tuple_layout;
	uint64_t byte_order; /* 0x0102030405060708 as the writer stores it */
	uint64_t size;	     /* bytes of the file */
	char boot_id[40];
	uint32_t pid;
	uint32_t uid;
	uint64_t pid_start; /* field 22 of /proc/PID/stat: with pid and boot id the process's
			       identity */
	int32_t rank;	    /* in MPI_COMM_WORLD */
	int32_t world_size;
	uint32_t world; /* id of MPI_COMM_WORLD; spawned worlds have their own */
	uint32_t clock_kind;
	struct clock_pair born; /* when the segment was made */
	int64_t born_real_ns;
	uint32_t cost_ps; /* picoseconds that one event costs, measured in this process at its start
			   */
	uint32_t pad0;
	char run[64];
	char host[64];
	char program[128];
	char job[64]; /* what the launcher calls the job (PMIX_NAMESPACE), "" if unknown */
	struct segment_layout layout;
	/* what is in use */
	_Atomic uint32_t threads;
	_Atomic uint32_t elements;
	_Atomic uint32_t comms;
	_Atomic uint32_t members;
	_Atomic uint64_t rings_used;
	_Atomic uint32_t finished; /* MPI_Finalize has returned */
	_Atomic uint32_t note;	   /* enum segment_note bits: why collecting is not complete */
};

_Static_assert(sizeof(struct segment_header) <= SEGMENT_PAGE, "the header is one page");

/** Why a process is not (fully) collected; `evspace status` says it in words. */
enum segment_note {
	SEGMENT_NOTE_THREADS =
		1 << 0, /* more threads than the reserve: the rest is counted as lost */
	SEGMENT_NOTE_COMMS =
		1 << 1, /* more communicators than fit: some have no members on record */
	SEGMENT_NOTE_REQUESTS =
		1 << 2,		     /* more requests under way than fit: some are unattributed */
	SEGMENT_NOTE_CLOCK = 1 << 3, /* no invariant TSC: CLOCK_MONOTONIC is used and costs more */
	SEGMENT_NOTE_SETTINGS =
		1 << 4, /* an EVSPACE_ variable was not understood: the default is used */
};

/** What a class of operations records. */
enum segment_mode { MODE_TRACE, MODE_OFF };

/** The second page: the only one that an agent may write. */
struct segment_control {
	_Atomic uint8_t mode[CHANNEL_MAX]; /* enum segment_mode */
	_Atomic uint64_t
		died_mono_ns; /* when an agent first saw the process gone, 0 while it lives */
};

/**
 * What a thread is doing now: 64 bytes, written by the thread alone. The words are those of the
 * tuple that it will leave; `what` is written last and is 0 outside any operation. Read it with
 * segment_state().
 */
struct segment_state {
	_Atomic uint64_t what; /* comm, op, flags as in a tuple */
	_Atomic uint64_t since;
	_Atomic uint64_t bytes;
	_Atomic uint64_t whom;	/* peer, seq_or_tag as in a tuple */
	_Atomic uint64_t polls; /* vain Test and Probe calls, coalesced: counted, not recorded */
	uint64_t spare[3];
};

_Static_assert(sizeof(struct segment_state) == 64, "a state line is one cache line");

/** Exact counts per thread and channel: of all tuples written, kept also when nothing reads. */
struct segment_counter {
	_Atomic uint64_t events;
	_Atomic uint64_t bytes;
};

/** One thread of the process. */
struct segment_thread {
	struct segment_state state;
	struct segment_counter counters[CHANNEL_MAX];
	uint32_t tid;	       /* kernel thread id */
	_Atomic uint32_t used; /* set (release) when the entry is complete */
	uint32_t pad[14];
};

_Static_assert(sizeof(struct segment_thread) % 64 == 0, "threads do not share cache lines");

/** Entry number of the thread of an overflow element: no thread of the table. */
#define SEGMENT_NO_THREAD UINT32_MAX

/** One element: where its ring is and what it records. */
struct segment_element {
	uint64_t ring_at; /* offset in the file */
	uint32_t capacity;
	uint32_t thread; /* index in the thread table; SEGMENT_NO_THREAD: the overflow element */
	uint16_t channel;
	uint16_t pad;
	_Atomic uint32_t used; /* set (release) when the entry is complete */
	uint64_t pad2;
};

_Static_assert(sizeof(struct segment_element) == 32, "element entries are 32 bytes");

/** One communicator that the process is a member of. */
struct segment_comm {
	uint32_t id;	  /* the same on all members; never 0 */
	uint32_t parent;  /* id of the communicator that it was made from, 0 for the world */
	uint32_t size;	  /* members */
	uint32_t members; /* index of the first in the member array (world ranks), or: */
#define SEGMENT_MEMBERS_WORLD	(UINT32_MAX - 1) /* rank i is world rank i */
#define SEGMENT_MEMBERS_UNKNOWN UINT32_MAX
	_Atomic uint32_t used;
	uint32_t pad[3];
};

_Static_assert(sizeof(struct segment_comm) == 32, "communicator entries are 32 bytes");

/** What a segment shall hold; zero fields take the defaults. */
struct segment_plan {
	const char *dir; /* the run's folder; must exist */
	const char *run;
	const char *job; /* what the launcher calls it; NULL: unknown */
	int32_t rank, world_size;
	uint32_t world;
	uint32_t threads;		/* reserve of threads; default 8 */
	uint32_t capacity[CHANNEL_MAX]; /* tuples per element; default 200 */
	uint32_t comms;			/* default 256 */
	uint32_t members;		/* default 16 x world_size, 4096 at least */
	uint64_t quota; /* bytes that all of the user's segments may take; default a quarter of the
			   file system */
};

/** A mapped segment, writable in its own process, read-only elsewhere. */
struct segment {
	struct segment_header *header;
	struct segment_layout layout; /* checked copy: the one in the file may change under us */
	size_t size;
	int fd; /* -1 once it is not needed */
	char path[256];
	dev_t device;
	ino_t inode;
};

/* ---- writer (node-agent/segment.c; only libc, for the collector library too) ---- */

/**
 * Make a segment file, really reserved (posix_fallocate), 0600, under a temporary name that is made
 * its own name "rankR.PID.seg" when complete. Nothing is left behind on failure but an empty file
 * "rankR.PID.refused-REASON" (REASON: no-space, quota, limits, denied) for `evspace status`.
 * Returns 0, or -1 with errno (ENOSPC, EDQUOT, EACCES, EINVAL …) and the remedy in @e.
 */
int segment_create(struct segment *s, const struct segment_plan *plan, struct error *e);

/** Unmap. The file stays. NULL-safe, idempotent. */
void segment_close(struct segment *s);

/** Take the next thread entry from the reserve; NULL when it is used up (noted in the header). */
struct segment_thread *segment_thread_add(struct segment *s, uint32_t tid);

/**
 * Take an element of @capacity for @thread (an index) and @channel from the reserve. Lock-free, no
 * system call. Returns the entry, or NULL when nothing is left.
 */
struct segment_element *segment_element_add(struct segment *s, uint32_t thread, uint16_t channel,
					    uint32_t capacity);

/** The segment's one overflow element (capacity 1, entry 0): everything written there is counted
 * lost. */
struct segment_element *segment_overflow(struct segment *s);

/** Count a tuple on the overflow element; any thread, one atomic add. */
void segment_overflow_write(struct segment *s);

/** Take room for @n world ranks from the reserve. NULL when it is used up (noted in the header). */
int32_t *segment_members_take(struct segment *s, uint32_t n);

/**
 * Where the list of @n members that was put into @room is on record: for segment_comm.members. A
 * list that was there before is not kept twice, its room goes back to the reserve.
 */
uint32_t segment_members_keep(struct segment *s, const int32_t *room, uint32_t n);

/** The list at @members (not one of SEGMENT_MEMBERS_WORLD and _UNKNOWN); it never changes again. */
const int32_t *segment_members_at(const struct segment *s, uint32_t members);

/** Record a communicator (ids on record already are left); noted in the header when it does not
 * fit. */
void segment_comm_add(struct segment *s, uint32_t id, uint32_t parent, uint32_t size,
		      uint32_t members);

/* ---- reader (node-agent/segment-read.c) ---- */

/**
 * Map @dir/@name read-only after checking owner, mode and every offset and length in it: a hostile,
 * truncated or version-mismatched file ends in one clear error. Returns 0, or -1 with errno and
 * text.
 */
int segment_open(struct segment *s, const char *dir, const char *name, struct error *e);

/**
 * Run @read over mapped segments so that a file truncated under us ends in -1 (errno EIO) and not
 * in SIGBUS. The one routine through which agents look into segments. @read must hold nothing that
 * a jump out of it would leak. Not reentrant.
 */
int segment_guarded(int (*read)(void *arg), void *arg);

/** Map the control page writable. Returns NULL with errno. Unmapped by segment_control_unmap(). */
struct segment_control *segment_control_map(const struct segment *s);
void segment_control_unmap(struct segment_control *control);

/** Tables of a mapped segment: checked counts (never more than fit) and entries (NULL: not complete
 * yet). */
uint32_t segment_threads(const struct segment *s);
const struct segment_thread *segment_thread(const struct segment *s, uint32_t i);
uint32_t segment_elements(const struct segment *s);
const struct segment_element *segment_element(const struct segment *s, uint32_t i);
uint32_t segment_comms(const struct segment *s);
const struct segment_comm *segment_comm(const struct segment *s, uint32_t i);

/**
 * The ring of an entry, its place and capacity checked against the file; NULL when they are not
 * right. Give it a copy of the entry, and use that copy's capacity: what is in the file may change.
 */
const struct element_ring *segment_ring(const struct segment *s,
					const struct segment_element *entry);

/** World rank of member @i of @comm, -1 when unknown. */
int32_t segment_member(const struct segment *s, const struct segment_comm *comm, uint32_t i);

/**
 * A consistent copy of a thread's state line as a tuple with flag TUPLE_RUNNING. Returns 1, or 0
 * when the thread is in no operation (or its line changed under every one of a few tries).
 */
int segment_state(const struct segment_thread *thread, struct tuple *out);

/** Is the process of the segment still alive: (pid, start time, boot id), never a lock. */
int segment_alive(const struct segment *s);

/** The header's notes in words, separated by "; ". Returns @buf. */
const char *segment_notes(uint32_t note, char *buf, size_t n);

#endif
