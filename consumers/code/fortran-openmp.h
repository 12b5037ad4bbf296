/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP regions of Fortran: from a directive to its END, or over the loop or statement behind it.
 */
#ifndef EVSPACE_FORTRAN_OPENMP_H
#define EVSPACE_FORTRAN_OPENMP_H

#include "consumers/code/fortran-text.h"

/** Most directives that are open. */
#define FORTRAN_DIRECTIVES 64

struct fortran_directive {
	size_t region;
	size_t loop;  /* the loop that it is of; SIZE_MAX: none yet */
	bool of_loop; /* it has one behind it */
	bool of_one;  /* it has one statement behind it */
	bool whole;   /* what it is of has ended, which END may follow */
};

/** Directives that are open. Zeroed, there are none. */
struct fortran_openmp {
	struct fortran_directive open[FORTRAN_DIRECTIVES];
	unsigned n;
};

/** Take a directive: the begin of a region, or the end of one. */
void fortran_openmp_take(struct fortran_openmp *openmp, struct code_text *code,
			 const struct fortran_statement *s);

/** A statement is no directive. */
void fortran_openmp_statement(struct fortran_openmp *openmp, struct code_text *code,
			      const struct fortran_statement *s, bool is_loop);

/** The loop @region begins, or has ended. */
void fortran_openmp_loop(struct fortran_openmp *openmp, struct code_text *code, size_t region);
void fortran_openmp_loop_end(struct fortran_openmp *openmp, const struct code_text *code,
			     size_t region);

/** The procedure ends, and all that is open with it. */
void fortran_openmp_settle(struct fortran_openmp *openmp);

#endif
