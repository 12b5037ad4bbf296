/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program: "allreduce CALLS BYTES..." prints for each size how many microseconds a call of
 * MPI_Allreduce takes, one behind the other: the median of five rows of CALLS. With $LATE, RANK:US,
 * that rank comes so late to each, which does not count. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROWS 5

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int late_rank = -1;
static long late_us;

static void come_late(int rank)
{
	const struct timespec time = {late_us / 1000000, late_us % 1000000 * 1000};

	if (rank == late_rank)
		nanosleep(&time, NULL);
}

/* Seconds that a row of calls takes. The time of a single one is not what it costs: ranks that
 * begin at different times take turns at being early. */
static double row(int rank, int calls, const double *in, double *out, int n)
{
	double begin;

	MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < calls; i++) {
		come_late(rank);
		MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	return MPI_Wtime() - begin - (double)late_us * 1e-6 * calls;
}

int main(int argc, char **argv)
{
	int calls = argc > 2 ? atoi(argv[1]) : 0, rank;
	const char *late = getenv("LATE");
	double took[ROWS];

	if (late && sscanf(late, "%d:%ld", &late_rank, &late_us) != 2)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int k = 2; calls > 0 && k < argc; k++) {
		int n = atoi(argv[k]) / (int)sizeof(double);
		double *in = calloc((size_t)n, sizeof(*in)), *out = calloc((size_t)n, sizeof(*out));

		for (int i = 0; in && out && i < ROWS; i++)
			took[i] = row(rank, calls, in, out, n);
		qsort(took, ROWS, sizeof(*took), by_size);
		if (rank == 0)
			printf("%s %.1f\n", argv[k], took[ROWS / 2] / calls * 1e6);
		free(in);
		free(out);
	}
	MPI_Finalize();
	return 0;
}
