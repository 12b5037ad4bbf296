/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the library for Fortran's special addresses. */
#include "node-agent/collect/mpi/mpi-fortran.h"

#include <stddef.h>
#include <string.h>

struct mpi_fortran mpi_fortran;

/* The address that the library's variable @symbol holds. */
static const void *pointer_find(const char *symbol)
{
	void *const *pointer = evspace_door_own(symbol);

	return pointer ? *pointer : NULL;
}

const char *mpi_fortran_text(char out[MPI_FORTRAN_TEXT], const char *text, size_t n)
{
	while (n > 0 && text[n - 1] == ' ')
		n--;
	while (n > 0 && *text == ' ') {
		text++;
		n--;
	}
	if (n >= MPI_FORTRAN_TEXT)
		n = MPI_FORTRAN_TEXT - 1;
	memcpy(out, text, n);
	out[n] = '\0';
	return out;
}

void mpi_fortran_find(void)
{
#if defined(OPEN_MPI)
	mpi_fortran.status_ignore = pointer_find("MPI_F_STATUS_IGNORE");
	mpi_fortran.statuses_ignore = pointer_find("MPI_F_STATUSES_IGNORE");
	mpi_fortran.in_place = evspace_door_own("mpi_fortran_in_place_");
#else
	/* only mpi_f08's functions without choice buffers (mpi-fortran.awk) */
	mpi_fortran.status_ignore = pointer_find("MPI_F08_STATUS_IGNORE");
	mpi_fortran.statuses_ignore = pointer_find("MPI_F08_STATUSES_IGNORE");
#endif
}
