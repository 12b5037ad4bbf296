/* SPDX-License-Identifier: BSD-3-Clause */
/* What a statement of Fortran is, as far as regions depend on it. */
#ifndef EVSPACE_FORTRAN_WORD_H
#define EVSPACE_FORTRAN_WORD_H

#include "consumers/code/fortran-text.h"

enum fortran_kind {
	FORTRAN_OTHER,
	FORTRAN_PROCEDURE, /* program, subroutine, function, separate module procedure */
	FORTRAN_CONTAINER, /* module, submodule, block data */
	FORTRAN_INTERFACE, /* the begin of a block of interfaces */
	FORTRAN_INTERFACE_END,
	FORTRAN_CONTAINS,
	FORTRAN_END, /* of a procedure or container */
	FORTRAN_DO,
	FORTRAN_DO_END,
	FORTRAN_CALL,
};

struct fortran_word {
	enum fortran_kind kind;
	char name[64];	    /* of a procedure; of who is called; what kind of loop: "do while" */
	unsigned label;	    /* of DO: that of the statement that ends it; 0: END DO does */
	bool conditional;   /* of CALL: behind IF (...) */
	const char *detail; /* of CALL: what is behind the name, in the statement */
};

/** Say what the statement is. */
struct fortran_word fortran_word_of(const struct fortran_statement *statement);

/** The first "=" outside of parentheses, that assigns; NULL: there is none. "::" ends the search.
 */
const char *fortran_assigning(const char *text);

#endif
