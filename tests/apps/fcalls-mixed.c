/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and waits for requests in C, for a program in C or Fortran. */
#include "tests/apps/fcalls-mixed.h"

void mixed_send(const int *numbers, int to, MPI_Comm comm, MPI_Request *request)
{
	MPI_Issend(numbers, 4, MPI_INT, to, 70, comm, request);
}

void mixed_wait(MPI_Request *request)
{
	MPI_Wait(request, MPI_STATUS_IGNORE);
}

void fcalls_send_(const int *numbers, const MPI_Fint *to, const MPI_Fint *comm, MPI_Fint *request)
{
	MPI_Request started;

	mixed_send(numbers, *to, MPI_Comm_f2c(*comm), &started);
	*request = MPI_Request_c2f(started);
}

void fcalls_wait_(MPI_Fint *request)
{
	MPI_Request started = MPI_Request_f2c(*request);

	mixed_wait(&started);
	*request = MPI_Request_c2f(started);
}
