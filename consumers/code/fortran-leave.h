/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements of Fortran that go elsewhere: out of a region, or into one. */
#ifndef EVSPACE_FORTRAN_LEAVE_H
#define EVSPACE_FORTRAN_LEAVE_H

#include "consumers/code/fortran-text.h"

enum fortran_leaving {
	FORTRAN_STAYS,
	FORTRAN_LEAVES,	       /* always, if it is not behind IF (...) */
	FORTRAN_LEAVES_EITHER, /* now and then: by one of several labels, or none */
};

/** A region, by numbers of its statements. */
struct fortran_range {
	size_t first, last;
};

/** What the statement does, in its text: behind IF (...), if it has that. */
const char *fortran_action(const struct fortran_statement *statement);

/** Does the statement @at, one of the region, leave it? What ends the program does not. */
enum fortran_leaving fortran_leave(const struct fortran_text *text, size_t at,
				   const struct fortran_range *region);

/** May the statement @at, none of the region, go to one that is? */
bool fortran_enters(const struct fortran_text *text, size_t at, const struct fortran_range *region);

#endif
