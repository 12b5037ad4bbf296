/* SPDX-License-Identifier: BSD-3-Clause */
/* How much one more event of a sequence tells: entropy over a window of events (Özmen: An
 * Entropy-Based Algorithm for Time-Driven Software Instrumentation in Parallel Systems, section 3).
 * Pure. */
#ifndef EVSPACE_ENTROPY_WINDOW_H
#define EVSPACE_ENTROPY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/** Most events that a window holds, and how many one holds by default. */
#define ENTROPY_WINDOW_MAX     16u
#define ENTROPY_WINDOW_DEFAULT 4u

/** The tables of a window's size, made once: what repetitions mean. */
struct entropy_table {
	unsigned size;			  /* events that the window holds */
	double scale;			  /* K */
	double alpha[ENTROPY_WINDOW_MAX]; /* that the same comes again, after so many repetitions */
	double same[ENTROPY_WINDOW_MAX];  /* K, the alphas of p_w, and h by alpha */
	double other[ENTROPY_WINDOW_MAX]; /* the same with h by beta = 1 - alpha */
};

/** A window. All that counts of it is its most recent event, and how often that came before it
 * without another one between. Zeroed: no event yet. */
struct entropy_window {
	uint32_t last;
	uint16_t repeated; /* at most size - 1 */
	bool any;
};

/**
 * Make the tables for a window of @size events, 1 to ENTROPY_WINDOW_MAX. @alpha has one value above
 * 0 and below 1 for each of them; NULL: the paper's 0.5, 0.7, 0.9, and after these half of what is
 * left to 1 each time (0.95, 0.975, ...), which is ours.
 */
void entropy_table_init(struct entropy_table *table, unsigned size, double scale,
			const double *alpha);

/**
 * The next event comes: S = K p_w h of it, with the natural logarithm, and it is the window's most
 * recent one from now on. @p is the probability of the window's most recent event, as the paper has
 * it 1 by the number of events that the program can do. With an empty window it is what an event
 * after a different one has.
 */
double entropy_window_next(const struct entropy_table *table, struct entropy_window *window,
			   uint32_t event, double p);

/**
 * The S between that of one more of the same event in a full window and that of another one there,
 * their geometric mean: who keeps what is above it keeps every change, and of what is repeated the
 * first size - 1. Such an S exists for windows of 2 and more.
 */
double entropy_threshold(const struct entropy_table *table, double p);

#endif
