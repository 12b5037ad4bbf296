/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterates: some work, some messages to itself, one MPI_Allreduce; until it is killed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Work that takes its time and gives a result. */
static double work(long n)
{
	volatile double x = 1;

	for (long i = 0; i < n; i++)
		x = x * 0.999 + 0.001;
	return x;
}

int main(int argc, char **argv)
{
	int out[16] = {0}, in[16];
	long messages, n;

	MPI_Init(&argc, &argv);
	if (argc != 3) {
		fprintf(stderr, "usage: iterate MESSAGES WORK\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	messages = strtol(argv[1], NULL, 10);
	n = strtol(argv[2], NULL, 10);
	for (;;) {
		double mine = work(n), all;

		for (int tag = 0; tag < messages; tag++)
			MPI_Sendrecv(out, 16, MPI_INT, 0, tag, in, 16, MPI_INT, 0, tag,
				     MPI_COMM_SELF, MPI_STATUS_IGNORE);
		MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
}
