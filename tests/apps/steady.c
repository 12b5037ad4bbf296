/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends messages to itself as fast as it can, for ever, in a pattern that can be checked: to be
 * killed. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	enum { MOST = 61, TAGS = 30000 };
	int out[MOST] = {0}, in[MOST];

	MPI_Init(&argc, &argv);
	if (argc > 1) {
		fprintf(stderr, "usage: steady\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int tag = 0;; tag = (tag + 1) % TAGS)
		MPI_Sendrecv(out, tag % MOST, MPI_INT, 0, tag, in, MOST, MPI_INT, 0, tag,
			     MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
