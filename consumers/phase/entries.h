/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of blocks: a line "time block process" for each block that a process enters (Gomez, Cai,
 * Schubert 2016, section 5.4), and, of ours, to what bound the time is known. */
#ifndef EVSPACE_ENTRIES_H
#define EVSPACE_ENTRIES_H

#include <stdint.h>
#include <stdio.h>

#include "pathmap/base/error.h"

/** Most processes and blocks. */
#define ENTRIES_PROCESSES_MAX 10240u
#define ENTRIES_BLOCKS_MAX    1000000u

/** A process enters a block at a time of any unit. */
struct entry {
	double time, bound; /* it may be so much earlier or later */
	uint32_t block;
	unsigned process;
};

struct entries {
	FILE *in;	  /* NULL: they come from the source */
	const char *name; /* borrowed */
	uint64_t line;	  /* of the last entry */
	struct entries_source {
		/* as entries_next(), but for the name and the line; and from the first one again */
		int (*next)(void *arg, struct entry *entry, struct error *e);
		void (*again)(void *arg);
		void *arg;
	} source;
};

/** Open the file @name, "-" for standard input, of which a copy without a name is made, as it is
 * read more than once. Returns 0, or -1 with @e. */
int entries_open(struct entries *entries, const char *name, struct error *e);

/** From the beginning. */
void entries_rewind(struct entries *entries);

/** Close it. */
void entries_close(struct entries *entries);

/** Read the next entry; lines without words, and what follows a `#`, are left out. Returns 1, 0 at
 * the end, or -1 with @e, which begins with "NAME:LINE: ". */
int entries_next(struct entries *entries, struct entry *entry, struct error *e);

/** The time of the last entry is before that of the one before it, though not all @processes have
 * come: the file is not sorted. Returns -1 with @e. */
int entries_unsorted(const struct entries *entries, unsigned processes, struct error *e);

#endif
