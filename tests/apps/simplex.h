/* SPDX-License-Identifier: BSD-3-Clause */
/* The amoeba simplex of Gomez, Cai and Schubert (Entropy of Parallel Execution and Communication,
 * 5.1), of which each process moves a vertex. */
#ifndef EVSPACE_TESTS_SIMPLEX_H
#define EVSPACE_TESTS_SIMPLEX_H

#include <stdint.h>

#define SIMPLEX_MOST	   64
#define SIMPLEX_ITERATIONS 20

struct simplex {
	double at[SIMPLEX_MOST][SIMPLEX_MOST];
};

/** How many processes there are, and who hears of blocks of Table 1 that are entered, and of each
 * value of the function before it is computed. NULL: nobody. */
struct simplex_work {
	int size;
	void (*block)(void *arg, uint32_t number);
	void (*fun)(void *arg);
	void *arg;
};

/** What all begin with. */
void simplex_begin(const struct simplex_work *w, struct simplex *s);

/** The values at all vertices, and where the least is. */
void simplex_values(const struct simplex_work *w, const struct simplex *s, double *value);
int simplex_least(const struct simplex_work *w, const double *value);

/** What process @me makes of the simplex: blocks 2 to 9. Returns the least value in it. */
double simplex_move(const struct simplex_work *w, struct simplex *s, double *value, int me);

/** All processes' moves from @from: the best is in @to. Returns whose it is. */
int simplex_step(const struct simplex_work *w, const struct simplex *from, struct simplex *to);

#endif
