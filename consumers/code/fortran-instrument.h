/* SPDX-License-Identifier: BSD-3-Clause */
/* A source in Fortran with regions of evspace.f90 around some of its regions. */
#ifndef EVSPACE_FORTRAN_INSTRUMENT_H
#define EVSPACE_FORTRAN_INSTRUMENT_H

#include "consumers/code/code.h"

/** code_instrument() for Fortran. */
char *fortran_instrument(const struct code_text *code, bool fixed, const char *const *ids, size_t n,
			 struct error *e);

#endif
