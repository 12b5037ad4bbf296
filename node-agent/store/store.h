/* SPDX-License-Identifier: BSD-3-Clause */
/* The store: all segments of a user on this host, as programs come and go
 * (docs/architecture.md). */
#ifndef EVSPACE_STORE_H
#define EVSPACE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>

#include "node-agent/store/mirror.h"
#include "node-agent/store/store-element.h"
#include "node-agent/segment/segment.h"
#include "pathmap/base/folder-base.h"
#include "pathmap/base/error.h"

/** A mapped segment and its process. */
struct store_segment {
	TAILQ_ENTRY(store_segment) link;
	struct segment segment;
	char run[64];	 /* name of the run's folder */
	char file[96];	 /* file name in it */
	char name[48];	 /* "rank3"; in a world that others spawned "rank3.w1a2b3c4d", after its id;
			    and
			    ".PID" behind for an older process of the same rank in the run */
	uint64_t serial; /* unique in this store, never reused */
	uint32_t world;	 /* id of the world, if it was spawned; else 0 */
	int32_t rank;	 /* in its world; with world, pid, host and born a copy from the header */
	pid_t pid;
	char host[64];
	struct clock_pair born;
	int pidfd; /* becomes readable when the process ends; -1: it has ended, is not watched, or
		      no descriptor was left (then call store_check_alive() now and then) */
	bool alive;
	bool pidfd_watched;    /* for the agent */
	uint64_t died_mono_ns; /* first seen dead; 0 while alive */
	unsigned holds;	       /* number of store_hold(), and the descriptor with their lock */
	int held;
	bool locked;
};

TAILQ_HEAD(store_list, store_segment);

/** Its rank in the program's world or its task id, -1: it has none. */
static inline int32_t store_segment_rank(const struct store_segment *s)
{
	return s->world || s->rank < 0 ? -1 : s->rank;
}

/** A mapped mirror. */
struct store_mirror {
	TAILQ_ENTRY(store_mirror) link;
	struct mirror mirror;
	uint64_t serial; /* unique, like those of segments */
};

TAILQ_HEAD(store_mirrors, store_mirror);

/** The reason of a process that is not to be collected. */
#define STORE_UNWANTED "map"

/** A process that could not be collected ("rankR.PID.refused-REASON"), or a file that is not
 * valid. */
struct store_refusal {
	TAILQ_ENTRY(store_refusal) link;
	char run[64];
	pid_t pid;	 /* of the process; 0: not known */
	int32_t rank;	 /* its rank or task id; -1: not known */
	bool unreadable; /* it may have been collected, but its file is not valid */
	bool filed;	 /* if not unreadable: the process does have a file, valid or not */
	bool unwanted;	 /* its rank is not to be collected */
	uint64_t bytes;	 /* of memory that is taken all the same */
	char text[256];	 /* "rank 3 (pid 4711): /dev/shm is full: …" with the remedy */
};

TAILQ_HEAD(store_refusals, store_refusal);

/** The runs and segments below one base folder. */
struct store {
	char base[FOLDER_BASE];
	struct store_list segments;
	struct store_mirrors mirrors;
	struct store_elements elements, elements_going; /* those that go, likewise */
	struct store_element *elements_by_serial;
	struct store_refusals refusals;
	uint64_t version; /* grows when a segment, mirror, element or refusal comes or goes, or a
			     segment changes its name */
	int inotify;	  /* readable when something changed; -1 unless watching */
	uint64_t next_serial;	 /* from 1 */
	struct store_list going; /* segments that go in this refresh, still mapped */
	/*
	 * NULL, or set after store_init(): called by store_refresh(), store_purge() and
	 * store_fini() once with all segments that go, before they are unmapped and their pidfds
	 * closed; also if elements of programs alone go.
	 */
	void (*gone)(const struct store_list *going, void *arg);
	void *gone_arg;
	struct store_index *index; /* known files and folders; private to the store */
};

/**
 * Scan @base (which need not exist yet) and map every sound segment; with @watch also watch the
 * base (made if missing, 0700) and every run folder, so that a change makes `inotify` readable: by
 * inotify, or if this user has no instance left, by signals (SIGIO is then blocked). A folder of
 * another owner is refused. Returns 0, or -1 with @e.
 */
int store_init(struct store *store, const char *base, bool watch, struct error *e);
void store_fini(struct store *store);

/**
 * Read the pending events (if watching) and scan again: add new segments, unmap removed ones. A
 * missing base is no error: it counts as empty, and is seen when it is made again. Returns 0, or -1
 * with errno when the base cannot be read (the store is then empty).
 */
int store_refresh(struct store *store);

/** Does a part of that, until @until_ns (CLOCK_MONOTONIC): folders may have very many files.
 * Returns whether some remains; `version` grows with each folder that is done. */
bool store_refresh_part(struct store *store, uint64_t until_ns);

/** Note that @s is being read: until store_release(), a program that needs room removes all
 * other ended runs first. Holds are counted, and end with the segment. */
void store_hold(struct store_segment *s);

/** Holders call this now and then, since another process may have had the lock at first. */
void store_hold_again(struct store_segment *s);

/** End one hold on the segment of that serial, if it exists. */
void store_release(const struct store *store, uint64_t serial);

/** Check whether the process of @s still lives. If it has just ended, note it here and in its
 * control page, and close its pidfd: remove that from your event loop first. */
bool store_check_alive(struct store_segment *s);

/**
 * Remove the segments of @run (NULL: of all runs) whose processes are dead for @older_than_ns, and
 * files without owner: temporary files of dead makers, refusals, cursor files older than that,
 * empty run folders. @force: also segments of living processes (only the files' names go; the
 * programs keep running). Returns the number of bytes freed.
 */
uint64_t store_purge(struct store *store, const char *run, uint64_t older_than_ns, bool force);

/** The same for @n runs, in one pass over the store. */
uint64_t store_purge_runs(struct store *store, const char *const *runs, size_t n,
			  uint64_t older_than_ns, bool force);

#endif
