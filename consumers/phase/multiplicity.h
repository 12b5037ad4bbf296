/* SPDX-License-Identifier: BSD-3-Clause */
/* In how many ways processes can be in a state, and the entropies that follow, summed over the
 * states of an execution (Gomez, Cai, Schubert 2016, section 4). Pure. */
#ifndef EVSPACE_MULTIPLICITY_H
#define EVSPACE_MULTIPLICITY_H

#include <stdint.h>

/** P processes, each in one of N blocks. Numbers of blocks begin at 0. */
struct multiplicity {
	unsigned processes;
	uint32_t blocks;
	uint32_t *count;      /* of processes, by block */
	double *ln, *c_log_c; /* of 0 to P: ln c, and c log2 c */
	double *inverse;      /* 1 / c */
	double ln_all;	      /* ln P! */
	double ln_volume;     /* ln N^P */
	double per_volume;    /* 1 / N^P; 0: a double has no room for N^P, or P! */
	double ln_ways;	      /* ln (P! / prod b_k!), of the state that it is in */
	double ways;	      /* the same, not as a logarithm, if there is room for it */
	double crowded;	      /* sum of c log2 c over its blocks */
	uint64_t changes;
	uint64_t rows;
	double by_volume, by_ways, by_histogram; /* sums over rows, see below */
};

/** What all rows so far come to, in bits. */
struct multiplicity_entropy {
	double by_volume;    /* -sum p log2 p, p = P! / (N^P prod b_k!) */
	double by_ways;	     /* the same without N^P: as p is a number of ways then, it is 0 or
			      * less; infinite where a double has no room for it */
	double by_histogram; /* mean of the rows: -sum q log2 q, q = b_k / P; NaN: no rows */
};

/** All @processes (1 at least) are in block @at. Aborts when there is no memory. */
void multiplicity_init(struct multiplicity *m, unsigned processes, uint32_t blocks, uint32_t at);

/** Free what it owns. */
void multiplicity_fini(struct multiplicity *m);

/** A process in block @from goes to @to. */
void multiplicity_change(struct multiplicity *m, uint32_t from, uint32_t to);

/** How its processes are spread: -sum q log2 q, q = b_k / P. */
double multiplicity_spread(const struct multiplicity *m);

/** The state is a row of the execution. */
void multiplicity_row(struct multiplicity *m);

/** The entropies of all rows so far. */
struct multiplicity_entropy multiplicity_entropy(const struct multiplicity *m);

#endif
