/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about other processes from /proc. */
#ifndef EVSPACE_PROC_H
#define EVSPACE_PROC_H

#include <stddef.h>
#include <stdint.h>

/** The text of /proc/PID/NAME, ended by two zeros, for the caller to free(); NULL: not
 * permitted. */
char *proc_read(int pid, const char *name);

/** Number @which (from 1; 0: the last) after @key in the text of a /proc/PID/status. */
int proc_number(const char *status, const char *key, int which);

struct segment_header;

/** Processes that are visible here and in a pid namespace below this one, as in a container.
 * Usable when zeroed. */
struct proc_apart {
	struct proc_inner {
		int pid, inner; /* pid here, and in its namespace */
		uint64_t space; /* its namespace, 0: not known */
	} * list;
	size_t n;
	uint64_t began_ns; /* when /proc was last scanned, 0: never */
};

/**
 * The pid, here, of the process that made the segment with this header, found by its pid there, its
 * namespace and its start. 0: it has ended, or is not visible here. Scans /proc for processes that
 * are newer than the last scan.
 */
int proc_apart_find(struct proc_apart *a, const struct segment_header *said);
void proc_apart_fini(struct proc_apart *a);

#endif
