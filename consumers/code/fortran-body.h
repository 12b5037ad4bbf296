/* SPDX-License-Identifier: BSD-3-Clause */
/* Procedures of Fortran: where what they do begins and ends. */
#ifndef EVSPACE_FORTRAN_BODY_H
#define EVSPACE_FORTRAN_BODY_H

#include "consumers/code/fortran-text.h"

/** A program or procedure, by numbers of its statements. */
struct fortran_body {
	size_t head;	 /* its first one */
	size_t begin;	 /* the first one that does something; else that which ends them */
	size_t end;	 /* what is behind those that do something: CONTAINS or END */
	bool named;	 /* its head only names it */
	bool entries;	 /* it is entered elsewhere, too (ENTRY) */
	const char *why; /* nothing can be written into it; NULL: it can */
};

struct fortran_bodies {
	struct fortran_body *items;
	size_t n;
};

/** Find those of a source. */
void fortran_bodies_find(struct fortran_bodies *bodies, const struct fortran_text *text);

/** That which the statement @at does something in; NULL: none. */
const struct fortran_body *fortran_body_of(const struct fortran_bodies *bodies, size_t at);

void fortran_bodies_fini(struct fortran_bodies *bodies);

#endif
