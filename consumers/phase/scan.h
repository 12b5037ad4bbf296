/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes are unlike the others: the entropies of all subsets of K processes (after Gomez,
 * Cai, Schubert 2016, section 6.7). Pure. */
#ifndef EVSPACE_SCAN_H
#define EVSPACE_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** Most processes of a subset, and the memory that a scan may take, in bytes. */
#define SCAN_MOST  8u
#define SCAN_BYTES (UINT64_C(256) << 20)

/** A subset of the processes, and how many rows it has been in each of its states. */
struct scan_subset {
	unsigned process[SCAN_MOST];
	uint32_t state; /* the blocks of its processes as digits of a number */
	uint64_t since; /* the row from which on it is in it */
	uint64_t *rows; /* by state */
	double entropy; /* Shannon's, of its states, in bits; after scan_end() */
};

/** All subsets of a size. */
struct scan {
	unsigned processes, size;
	uint32_t blocks, states; /* states: blocks to the power of size */
	uint64_t row;
	struct scan_subset *subsets;
	size_t n;
	size_t *of; /* by process: the subsets that it is in, each as many */
	size_t n_of;
	uint64_t *cells;
};

/** A process, and how its subsets differ from those of the others. */
struct scan_process {
	double mean;	 /* entropy of the subsets that it is in, in bits */
	double others;	 /* mean of the other processes' means */
	double unlikely; /* probability of such a difference among processes that are alike, by
			  * Student's t, for all processes together (Bonferroni) */
	size_t least;	 /* the subset with it that has the least entropy */
};

/** All subsets of @size of @processes (at least 3, and @size less), all in block @at of @blocks.
 * Returns 0, or -1 with @e: too many, or too large. For scan_fini() in both cases. */
int scan_init(struct scan *s, unsigned processes, unsigned size, uint32_t blocks, uint32_t at,
	      struct error *e);

/** Free what it owns. */
void scan_fini(struct scan *s);

/** Process @process goes from block @from to @to. */
void scan_change(struct scan *s, unsigned process, uint32_t from, uint32_t to);

/** The states are a row. */
static inline void scan_row(struct scan *s)
{
	s->row++;
}

/** Make the entropies of all subsets, and write what they say of each process to @found, an array
 * of as many as there are processes. */
void scan_end(struct scan *s, struct scan_process *found);

#endif
