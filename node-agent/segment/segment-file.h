/* SPDX-License-Identifier: BSD-3-Clause */
/* What the writer and the reader of segments both need to know of files and processes. */
#ifndef EVSPACE_SEGMENT_FILE_H
#define EVSPACE_SEGMENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/** segment_header.byte_order as the writer stores it. */
#define SEGMENT_BYTE_ORDER 0x0102030405060708u

/**
 * Start time of process @pid (field 22 of /proc/PID/stat, in clock ticks since boot). Returns 0, or
 * -1 with errno when there is no such process or only what is left of it (a zombie).
 */
int segment_pid_start(int pid, uint64_t *start);

/** Is all of the file reserved, as who makes one does it? Whoever reads a hole fills it. */
bool segment_is_reserved(const struct stat *st);

/** The namespace that the ids of processes are of here, 0: not known. */
uint64_t segment_pid_space(void);

/** Are the process ids of whoever made the segment with this header not those of here? */
struct segment_header;
bool segment_is_apart(const struct segment_header *said);

/**
 * Does the process that made the segment with this header live? Nothing in it needs be true. Of one
 * whose id means nothing here nobody knows: it lives until it has finished, or its host is started
 * again.
 */
bool segment_process_lives(const struct segment_header *said);

/**
 * Bytes of memory that segments and mirrors of all runs beside the folder @dir take together. A
 * *@quota of 0 is set to the default, a quarter of the file system.
 */
uint64_t segment_usage(int dir, uint64_t *quota);

/** What all of a user's segments may take of a file system, unless it is said. */
struct statvfs;
uint64_t segment_quota(const struct statvfs *fs);

/**
 * Where this process runs: *@cpu is 1 + the CPU that it is on (0: not known), @list (of @n bytes)
 * the CPUs that it may run on, "0-3,8", or "" when they are not known or more than fit.
 */
void segment_cpus(uint32_t *cpu, char *list, size_t n);

#endif
