/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of two ranks whose collectives differ in root, reduction and datatype. */
#include <mpi.h>

enum { WORDS = 64 };

static int ints[WORDS];
static double from[WORDS], to[WORDS];
static float floats[WORDS], sums[WORDS];
static long longs[WORDS], least[WORDS];
static short shorts[WORDS];

static void keep(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)in;
	(void)inout;
	(void)n;
	(void)type;
}

/* Three in a row are one. */
static void own(void)
{
	MPI_Datatype three;
	MPI_Op op;

	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Type_commit(&three);
	MPI_Op_create(keep, 1, &op);
	MPI_Allreduce(MPI_IN_PLACE, ints, 2, three, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
	MPI_Type_free(&three);
}

int main(int argc, char **argv)
{
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Bcast(ints, 4, MPI_INT, 1, MPI_COMM_WORLD);
	MPI_Reduce(from, to, 4, MPI_DOUBLE, MPI_MAX, 1, MPI_COMM_WORLD);
	own();
	MPI_Allreduce(floats, sums, 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, shorts, 4, MPI_SHORT, MPI_COMM_WORLD);
	MPI_Ireduce(longs, least, 4, MPI_LONG, MPI_MIN, 0, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
