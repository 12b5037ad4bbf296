/* SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran programs have done in C: requests that one language starts and the other ends. */
#ifndef EVSPACE_FCALLS_MIXED_H
#define EVSPACE_FCALLS_MIXED_H

#include <mpi.h>

/** Start to send 4 numbers with tag 70; wait for a request. */
void mixed_send(const int *numbers, int to, MPI_Comm comm, MPI_Request *request);
void mixed_wait(MPI_Request *request);

/* For Fortran, by the names that gfortran calls. */
void fcalls_send_(const int *numbers, const MPI_Fint *to, const MPI_Fint *comm, MPI_Fint *request);
void fcalls_wait_(MPI_Fint *request);

#endif
