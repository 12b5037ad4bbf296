/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements of Fortran, in fixed and free form. */
#ifndef EVSPACE_FORTRAN_TEXT_H
#define EVSPACE_FORTRAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consumers/code/code.h"

struct fortran_statement {
	size_t begin, end;   /* its lines in the text, all of them */
	unsigned line, last; /* their numbers */
	unsigned label;	     /* 0: none */
	bool directive;	     /* of OpenMP: behind "!$omp" */
	bool shares;	     /* there are others in its lines */
	bool typed;	     /* its first word is a macro that stands for a type */
	char *text;	     /* without blanks, in lower case; what is in quotes is as it is */
	uint32_t *from;	     /* of each of its letters: where in the source it is */
};

struct fortran_text {
	struct fortran_statement *statements;
	size_t n;
	char *letters; /* of all statements, each with a final 0 */
	uint32_t *from;
};

/** Split a source into statements: without comments, with what lines go on with, and of `#if` the
 * part that the flags of the source choose (fortran-macros.h). */
void fortran_text_split(struct fortran_text *text, const struct code_text *code, bool fixed);

void fortran_text_fini(struct fortran_text *text);

/** Where the statement itself begins and ends: its lines, unless there are others in them. */
size_t fortran_statement_begin(const struct fortran_statement *statement);
size_t fortran_statement_end(const struct fortran_statement *statement);

/** Behind the ")" that belongs to the "(" at @at; NULL: there is none. */
const char *fortran_closing(const char *at);

#endif
