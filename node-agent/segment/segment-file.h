/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about files and processes that both the writer and the reader of segments need. */
#ifndef EVSPACE_SEGMENT_FILE_H
#define EVSPACE_SEGMENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "pathmap/base/error.h"

/** segment_header.byte_order as the writer stores it. */
#define SEGMENT_BYTE_ORDER 0x0102030405060708u

/** Start time of process @pid (field 22 of /proc/PID/stat, in clock ticks since boot). Returns
 * 0, or -1 with errno when there is no such process, or it is a zombie. */
int segment_pid_start(int pid, uint64_t *start);

/** Is the whole file reserved, as its maker does it? Reading a hole of a mapped file allocates
 * memory. */
bool segment_is_reserved(const struct stat *st);

/** The pid namespace of this process, 0: not known. */
uint64_t segment_pid_space(void);

/** Was the segment with this header made in another pid namespace? */
struct segment_header;
bool segment_is_apart(const struct segment_header *said);

/**
 * Does the process that made the segment with this header live? The header need not be true. A
 * process of another pid namespace is taken to live until it has finished, or its host is rebooted.
 */
bool segment_process_lives(const struct segment_header *said);

/** Bytes of all segments and mirrors, over the run's folder @dir and those beside it. A *@quota
 * of 0 is set to the default, a quarter of the file system. */
uint64_t segment_usage(int dir, uint64_t *quota);

/** Default quota of all of a user's segments on a file system. */
struct statvfs;
uint64_t segment_quota(const struct statvfs *fs);

/**
 * Where this process runs: *@cpu is 1 + the CPU that it is on (0: not known), @list (of @n bytes)
 * the CPUs that it may run on, "0-3,8", or "" when they are not known or more than fit.
 */
void segment_cpus(uint32_t *cpu, char *list, size_t n);

/** What to reserve. */
struct segment_room {
	int dir;	  /* the run's folder, open */
	const char *path; /* its name in messages */
	int fd;		  /* the file, which has its name in dir already */
	uint64_t size;	  /* bytes */
	uint64_t quota;	  /* bytes of all of the user's files; 0: segment_usage()'s default */
	bool replaces;	  /* ended runs may be removed */
	unsigned n_removed, n_named; /* how many were; how many are in the list: */
	char removed[128];	     /* "a, b and 12 more" */
};

/**
 * Reserve it, allocated and within the quota. If there is no room and r->replaces, remove the
 * oldest runs beside the folder until there is: those that have ended, that no `evspace run` holds,
 * and that have no mirrors of other nodes. Those that an agent reads, or still passes on to another
 * node, go last. Removes none if all of them would not be enough. Takes three seconds at most.
 * Returns 0, or -1 with errno (ENOSPC, EDQUOT …) and the remedy in @e.
 */
int segment_room_reserve(struct segment_room *r, struct error *e);

#endif
