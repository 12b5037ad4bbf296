/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says of other processes. */
#ifndef EVSPACE_PROC_H
#define EVSPACE_PROC_H

#include <stddef.h>
#include <stdint.h>

/** The text of /proc/PID/NAME, for the caller to free(), with two zeros behind; NULL: we may not.
 */
char *proc_read(int pid, const char *name);

/** Number @which (from 1; 0: the last) behind @key in a /proc/PID/status. */
int proc_number(const char *status, const char *key, int which);

struct segment_header;

/** Those that are seen here and are of another pid namespace, below this one, as in a container.
 * Usable when zeroed. */
struct proc_apart {
	struct proc_inner {
		int pid, inner; /* here, and there */
		uint64_t space; /* its namespace, 0: not known */
	} * list;
	size_t n;
	uint64_t began_ns; /* when /proc was looked through, 0: it was not */
};

/**
 * The id that the process has here which made the segment with this header, by its id there, its
 * namespace and its start. 0: it has ended, or is not seen here; nobody knows which. Looks through
 * /proc for who came after it did so last.
 */
int proc_apart_find(struct proc_apart *a, const struct segment_header *said);
void proc_apart_fini(struct proc_apart *a);

#endif
