/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of tests/apps/fcalls.tab in C: what the Fortran programs must say and be recorded as.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "tests/apps/fcalls-mixed.h"

enum { NUMBERS = 512, RANKS = 16 };

static int rank, ranks, left, right, half, none, away, ierror, size[1], from[1], to[1];
static int out[NUMBERS], in[NUMBERS], more[NUMBERS], lines;
static int counts[RANKS], displs[RANKS], equals[RANKS], bytes[RANKS];
static MPI_Aint places[RANKS];
static MPI_Datatype types[RANKS];

static void say_line(const char *what)
{
	printf("%d %d %s:", rank, ++lines, what);
}

static void say_say(const char *what, const int *numbers, int n)
{
	say_line(what);
	for (int i = 0; i < n; i++)
		printf(" %d", numbers[i]);
	putchar('\n');
	/* a line is one write: launchers mix the processes' output as it comes */
	fflush(stdout);
}

static void say_status(const char *what, const MPI_Status *status)
{
	int count;

	MPI_Get_count(status, MPI_INT, &count);
	say_say(what, (int[]){status->MPI_SOURCE, status->MPI_TAG, count}, 3);
}

static void say_statuses(const char *what, const MPI_Status *statuses, int n)
{
	for (int i = 0; i < n; i++)
		say_status(what, &statuses[i]);
}

static void say_number(const char *what, int number)
{
	say_say(what, &number, 1);
}

static void say_index(const char *what, int index)
{
	say_number(what, index == MPI_UNDEFINED ? -1 : index);
}

static void say_truth(const char *what, int oracle)
{
	say_number(what, oracle != 0);
}

static void say_error(const char *what)
{
	int class;

	MPI_Error_class(ierror, &class);
	say_number(what, class);
}

static void say_fill(int *numbers, int n, int salt)
{
	for (int i = 0; i < n; i++)
		numbers[i] = rank * 1000 + salt * 100 + i;
}

static void say_copy(int *copy, const int *numbers, int n)
{
	memcpy(copy, numbers, (size_t)n * sizeof(*copy));
}

/* A ring, two halves with leaders 0 and ranks / 2, one rank (0) that belongs to neither. */
static void say_neighbours(void)
{
	left = (rank + ranks - 1) % ranks;
	right = (rank + 1) % ranks;
	half = rank >= ranks / 2;
	away = half ? 0 : ranks / 2;
	none = rank == 0 ? MPI_UNDEFINED : 1;
	size[0] = ranks;
	from[0] = left;
	to[0] = right;
}

static void say_vectors(void)
{
	for (int i = 0; i < RANKS; i++) {
		counts[i] = i + 1;
		displs[i] = 10 * i;
		equals[i] = 2;
		bytes[i] = 40 * i;
		places[i] = bytes[i];
		types[i] = MPI_INT;
	}
}

/* (Open MPI leaves Fortran the number of a request that has failed.) */
static void say_none(MPI_Request *request)
{
	*request = MPI_REQUEST_NULL;
}

static void say_mixed_send(int *numbers, int peer, MPI_Comm comm, MPI_Request *request)
{
	mixed_send(numbers, peer, comm, request);
}

static void say_mixed_wait(MPI_Request *request)
{
	mixed_wait(request);
}

static void add(void *more_of, void *sum, int *n, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)sum)[i] += ((int *)more_of)[i];
}

int main(void)
{
	static char room[1 << 16];
	static MPI_Request r[8], many[800];
	MPI_Status status, statuses[8];
	MPI_Comm comm, other, inter;
	MPI_Message message;
	MPI_Datatype type;
	MPI_Group group;
	MPI_Aint address[1];
	MPI_Op op;
	int flag, index, indices[8], outcount, room_size = sizeof(room), wraps[] = {1};
	void *room_address;

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	for (int i = 0; i < 8; i++)
		r[i] = MPI_REQUEST_NULL;
#include "tests/apps/fcalls-c.inc"
	return 0;
}
