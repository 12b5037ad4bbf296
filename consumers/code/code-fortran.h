/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of sources in Fortran. */
#ifndef EVSPACE_CODE_FORTRAN_H
#define EVSPACE_CODE_FORTRAN_H

#include "consumers/code/code.h"

/** Note procedures, loops, calls, regions of evspace.f90, and those of OpenMP if @openmp. */
void code_fortran(struct code_text *code, bool fixed, bool openmp);

#endif
