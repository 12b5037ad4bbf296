/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that differ between Fortran and C: numbers instead of handles, special addresses. */
#ifndef EVSPACE_MPI_FORTRAN_H
#define EVSPACE_MPI_FORTRAN_H

#include "node-agent/collect/mpi/mpi-bytes.h"
#include "node-agent/collect/mpi/mpi-library.h"

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts, tags and flags are read in place");

/*
 * Statuses are laid out alike in C, mpif.h, mpi and mpi_f08: Open MPI copies them word by word
 * (MPI_Status_c2f), and of MPICH only mpi_f08 matters here, whose type is C's.
 */

/** Special addresses of Fortran, for which C has constants (MPI-3.1 2.5.4). */
struct mpi_fortran {
	const void *status_ignore, *statuses_ignore;
	const void *in_place;
};

extern struct mpi_fortran mpi_fortran;

/** Index of the first request of an array. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
#define MPI_FORTRAN_FIRST 0 /* its mpi_f08 counts as C does (pmodels/mpich#6270) */
#else
#define MPI_FORTRAN_FIRST 1
#endif

/** Set the generated wrappers' pointers to the real functions (mpi-fortran-*.c). */
void mpi_fortran_resolve(void);

/* Handles that are used before it is known whether there is an MPI to ask. */

static inline MPI_Comm mpi_fortran_comm(const MPI_Fint *number)
{
	return mpi.ready ? MPI_F2C(Comm, *number) : mpi.comm_null;
}

static inline MPI_Request mpi_fortran_request(const MPI_Fint *number)
{
	return mpi.ready ? MPI_F2C(Request, *number) : mpi.request_null;
}

static inline MPI_Win mpi_fortran_win(const MPI_Fint *number)
{
	return mpi.ready ? MPI_F2C(Win, *number) : (MPI_Win)0;
}

static inline MPI_File mpi_fortran_file(const MPI_Fint *number)
{
	return mpi.ready ? MPI_F2C(File, *number) : (MPI_File)0;
}

/** The program's status or statuses, as in C. */
static inline MPI_Status *mpi_fortran_status(void *status)
{
	if (status == mpi_fortran.status_ignore || status == mpi_fortran.statuses_ignore)
		return MPI_STATUS_IGNORE;
	return status;
}

/** The same as in Fortran: @where, or if that is to be ignored the program's own argument. */
static inline void *mpi_fortran_where(MPI_Status *where, void *status)
{
	return where == MPI_STATUS_IGNORE ? status : (void *)where;
}

/** A buffer, or MPI_IN_PLACE. */
static inline const void *mpi_fortran_buffer(const void *buffer)
{
	return buffer == mpi_fortran.in_place ? MPI_IN_PLACE : buffer;
}

/** Most characters of a text, with its final 0 (MPI_MAX_STRINGTAG_LEN). */
#define MPI_FORTRAN_TEXT 256

/** Copy the text of @n characters, without the blanks around it, to @out as in C. */
const char *mpi_fortran_text(char out[MPI_FORTRAN_TEXT], const char *text, size_t n);

/* As in mpi-bytes.h, for arrays of datatypes' numbers. */

static inline uint64_t mpi_fortran_bytes_counts_w(uint32_t n, const void *counts, size_t width,
						  const MPI_Fint types[])
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += mpi_bytes(mpi_count_at(counts, width, i), MPI_F2C(Type, types[i]));
	return sum;
}

static inline uint64_t mpi_fortran_bytes_sum_w(const void *buffer, uint32_t n, const void *counts,
					       size_t width, const MPI_Fint types[],
					       const void *counts2, size_t width2,
					       const MPI_Fint types2[])
{
	return buffer == MPI_IN_PLACE ? mpi_fortran_bytes_counts_w(n, counts2, width2, types2)
				      : mpi_fortran_bytes_counts_w(n, counts, width, types);
}

#endif
