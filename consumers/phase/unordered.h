/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not known of an execution because processes change closer to each other than their clocks
 * are known: bounds of its figures over all orders of such changes. Pure. */
#ifndef EVSPACE_UNORDERED_H
#define EVSPACE_UNORDERED_H

#include "consumers/phase/doubt.h"
#include "consumers/phase/execution.h"

struct unordered_range {
	double least, most;
};

/** The entropies of struct multiplicity_entropy. */
enum unordered_figure { UNORDERED_VOLUME, UNORDERED_WAYS, UNORDERED_HISTOGRAM, UNORDERED_FIGURES };

/** Of all processes, or of a subset. */
struct unordered_part {
	const struct multiplicity *of;
	struct unordered_block {
		uint64_t chain;	      /* the last one that it was in */
		uint32_t least, most; /* processes in it, at any time of that */
	} * block;
	uint32_t *touched, n;				/* blocks in the chain */
	double *ln_factorial;				/* of 0 to the number of processes */
	double known[UNORDERED_FIGURES];		/* rows of the chain, as they are */
	struct unordered_range more[UNORDERED_FIGURES]; /* what is to be added to sums */
};

/**
 * Rows of which each is closer to the one before than two clocks are known, at worst, are a chain:
 * what is before it and its last row are known, as nothing that comes later may be before it. If
 * any of its entries is unsure, of the rows between is known only that each process is in one of
 * the blocks that it is in within the chain. In any order there are as many rows.
 */
struct unordered {
	const struct execution *x;
	uint64_t unsure;   /* entries closer to one of another process than clocks are known */
	uint64_t rows;	   /* that are not known */
	uint64_t parallel; /* unsure entries at the time of another one, which may be rows, too */
	double bounds;	   /* the sum of what times may be off by */
	double time;	   /* of all runs that are over */
	double squares;	   /* the most that rows may be off by, over all processes */
	bool again;	   /* the entry begins another run */
	uint64_t chain;	   /* its number, from 1 on */
	uint64_t sure;	   /* entries that were unsure before it */
	uint64_t between;  /* rows of it that are not known */
	double width;	   /* squares that one of these may be off by */
	struct doubt doubt;
	unsigned *moved, n_moved;     /* processes of the chain */
	struct unordered_scanned {    /* by subset of a scan */
		uint64_t chain, rows; /* the last one that it was in; rows not known */
	} * scanned;
	struct unordered_process {
		uint64_t chain;
		uint32_t least, most; /* of its blocks */
		bool left;	      /* the block in which it was before */
	} * process;
	struct unordered_part whole, subset;
};

/** Nothing has come to @x, which must outlive it. Aborts when there is no memory. */
void unordered_init(struct unordered *u, const struct execution *x);

/** Free what it owns. */
void unordered_fini(struct unordered *u);

/** What execution_add() gets next; @time is known to @bound. */
void unordered_add(struct unordered *u, double time, unsigned process, uint32_t block,
		   double bound);

/** There are no more entries. Before execution_end(); the figures are known behind it. */
void unordered_end(struct unordered *u);

/** How many states there are: if what is unsure happens at once, or at a time of its own. */
struct unordered_range unordered_states(const struct unordered *u);

/** An entropy in bits, as multiplicity_entropy() has it, of @part. */
struct unordered_range unordered_entropy(const struct unordered_part *part,
					 enum unordered_figure figure);

/** What the mean entropy of a scan's subsets with @process may be off by, in bits. */
double unordered_scanned(const struct unordered *u, unsigned process);

/** The share that a component has which has @variance of @total. */
struct unordered_range unordered_explained(const struct unordered *u, double variance,
					   double total);

/** What any sum over processes of shares of the time may be off by. */
double unordered_share(const struct unordered *u);

#endif
