/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a program keeps handles: variables that hold them (C), or their numbers (Fortran). */
#ifndef EVSPACE_MPI_PLACE_H
#define EVSPACE_MPI_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "node-agent/collect/mpi/mpi-library.h"

/** One variable, or an array of them. */
struct mpi_place {
	const void *at;
	bool fortran; /* MPI_Fint; else handles */
};

static inline struct mpi_place mpi_place_c(const void *at)
{
	return (struct mpi_place){.at = at};
}

static inline struct mpi_place mpi_place_fortran(const MPI_Fint *at)
{
	return (struct mpi_place){.at = at, .fortran = true};
}

/** How many of @n requests can be read: none if the array is NULL, which the real call reports. */
static inline int mpi_place_requests(struct mpi_place p, int n)
{
	return __builtin_expect(p.at != NULL, 1) ? n : 0;
}

/** Element @i of an array. */
static inline struct mpi_place mpi_place_request_at(struct mpi_place p, int i)
{
	if (p.fortran)
		p.at = (const MPI_Fint *)p.at + i;
	else
		p.at = (const MPI_Request *)p.at + i;
	return p;
}

/** The handle that it holds now. */
static inline MPI_Request mpi_place_request(struct mpi_place p)
{
	return p.fortran ? MPI_F2C(Request, *(const MPI_Fint *)p.at) : *(const MPI_Request *)p.at;
}

/** Does it hold no request any more? */
static inline bool mpi_place_is_null(struct mpi_place p)
{
	MPI_Request request = mpi_place_request(p);

	/* a failed call does not change Fortran's number; that of a freed request gives no
	 * handle */
	return request == mpi.request_null || !request;
}

static inline MPI_Comm mpi_place_comm(struct mpi_place p)
{
	return p.fortran ? MPI_F2C(Comm, *(const MPI_Fint *)p.at) : *(const MPI_Comm *)p.at;
}

#endif
