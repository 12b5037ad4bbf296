/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes, freed early and made again; counts and types of nothing; calls that fail. */
#include <stddef.h>
#include <string.h>

#include "tests/apps/calls.h"

enum { N = 20, TAG = 100 };

/* Send with one type, receive with another: @bytes go each way. */
static void exchange(const struct calls *on, const void *out, int out_n, MPI_Datatype out_type,
		     void *in, int in_n, MPI_Datatype in_type, uint64_t bytes)
{
	COUNT(MPI_Sendrecv, bytes);
	counts_done("MPI_Sendrecv", 1, bytes);
	MPI_Sendrecv(out, out_n, out_type, on->right, TAG, in, in_n, in_type, on->left, TAG,
		     on->comm, MPI_STATUS_IGNORE);
}

/* Every second number: its extent is nearly twice its size. */
static void strided(const struct calls *on)
{
	int all[2 * N], in[N], out[N];
	MPI_Datatype every_second;

	MPI_Type_vector(N, 1, 2, MPI_INT, &every_second);
	MPI_Type_commit(&every_second);
	calls_fill(out, N, on->rank, 1);
	for (int i = 0; i < 2 * N; i++)
		all[i] = i % 2 ? -1 : out[i / 2];
	exchange(on, all, 1, every_second, in, N, MPI_INT, INTS(N));
	calls_check("a strided type", in, N, on->left, 1);
	COUNT(MPI_Bcast, INTS(N));
	MPI_Bcast(all, 1, every_second, 0, on->comm);
	for (int i = 0; i < N; i++)
		in[i] = all[2 * i];
	calls_check("a strided type", in, N, 0, 1);
	MPI_Type_free(&every_second);
}

/* A struct with a hole: neither its size nor its extent is the sum of what is looked at first. */
static void structs(const struct calls *on)
{
	struct pair {
		char mark;
		double value;
	} out[3], in[3];
	int lengths[2] = {1, 1};
	MPI_Aint places[2] = {offsetof(struct pair, mark), offsetof(struct pair, value)};
	MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE}, bare, pair;

	MPI_Type_create_struct(2, lengths, places, types, &bare);
	MPI_Type_create_resized(bare, 0, sizeof(struct pair), &pair);
	MPI_Type_free(&bare);
	MPI_Type_commit(&pair);
	for (int i = 0; i < 3; i++)
		out[i] = (struct pair){'x', on->rank + i * 0.5};
	exchange(on, out, 3, pair, in, 3, pair, 3 * (sizeof(char) + sizeof(double)));
	for (int i = 0; i < 3; i++)
		calls_must(in[i].mark == 'x' && in[i].value == on->left + i * 0.5, "a struct type");
	MPI_Type_free(&pair);
}

/*
 * Types of other sizes one after the other, each freed while its messages are under way: the next
 * one may have the same handle, and what is known of a handle must not be kept.
 */
static void handles_again(const struct calls *on)
{
	int out[N], in[N];

	for (int n = 1; n < N; n++) {
		MPI_Request r[2];
		MPI_Datatype type;

		calls_fill(out, n, on->rank, n);
		MPI_Type_contiguous(n, MPI_INT, &type);
		MPI_Type_commit(&type);
		COUNT(MPI_Irecv, INTS(n));
		MPI_Irecv(in, 1, type, on->left, TAG, on->comm, &r[0]);
		COUNT(MPI_Isend, INTS(n));
		MPI_Isend(out, 1, type, on->right, TAG, on->comm, &r[1]);
		MPI_Type_free(&type);
		COUNT(MPI_Waitall, 0);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		counts_done("MPI_Irecv", 1, INTS(n));
		counts_done("MPI_Isend", 1, INTS(n));
		calls_check("a type of a handle used before", in, n, on->left, n);
	}
}

static void nothing(const struct calls *on)
{
	int one = 1, in = 7;
	MPI_Datatype empty;

	exchange(on, NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0);
	exchange(on, &one, 0, MPI_DOUBLE, &in, 1, MPI_DOUBLE, 0);
	MPI_Type_contiguous(0, MPI_INT, &empty);
	MPI_Type_commit(&empty);
	exchange(on, &one, 5, empty, &in, 5, empty, 0);
	MPI_Type_free(&empty);
	COUNT(MPI_Allreduce, 0);
	MPI_Allreduce(MPI_IN_PLACE, &in, 0, MPI_INT, MPI_SUM, on->comm);
	calls_must(in == 7, "a message of nothing brought something");
}

/* Types of more bytes than an int, or 32 bits, can say. They go to nobody: nothing is touched. */
static void large(void)
{
	static const int pieces[] = {3, 9};
	MPI_Datatype piece, type;
	char none = 0;

	MPI_Type_contiguous(1 << 29, MPI_BYTE, &piece);
	for (int i = 0; i < 2; i++) {
		uint64_t bytes = (uint64_t)pieces[i] << 29;

		MPI_Type_contiguous(pieces[i], piece, &type);
		MPI_Type_commit(&type);
		for (int again = 0; again < 2; again++) {
			COUNT(MPI_Bcast, bytes);
			MPI_Bcast(&none, 1, type, 0, MPI_COMM_SELF);
		}
		MPI_Type_free(&type);
	}
	MPI_Type_free(&piece);
}

static void must_fail(const char *call, int code, int expected)
{
	int class = MPI_SUCCESS;

	MPI_Error_class(code, &class);
	calls_must(class == expected, "%s: error class %d, not %d", call, class, expected);
}

/* Calls that fail and return, as the program has asked for; each is a call of 0 bytes. */
static void failures(const struct calls *on)
{
	int buf[N] = {0};
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Comm comm;

	COUNT(MPI_Comm_dup, 0);
	MPI_Comm_dup(on->comm, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	COUNT(MPI_Send, 0);
	must_fail("MPI_Send", MPI_Send(buf, N, MPI_INT, on->size + 5, TAG, comm), MPI_ERR_RANK);
	COUNT(MPI_Send, 0);
	must_fail("MPI_Send", MPI_Send(buf, N, MPI_INT, on->right, -5, comm), MPI_ERR_TAG);
	COUNT(MPI_Isend, 0);
	must_fail("MPI_Isend", MPI_Isend(buf, -1, MPI_INT, on->right, TAG, comm, &request),
		  MPI_ERR_COUNT);
	COUNT(MPI_Irecv, 0);
	must_fail("MPI_Irecv", MPI_Irecv(buf, N, MPI_INT, -77, TAG, comm, &request), MPI_ERR_RANK);
	COUNT(MPI_Recv, 0);
	must_fail("MPI_Recv",
		  MPI_Recv(buf, N, MPI_DATATYPE_NULL, on->left, TAG, comm, MPI_STATUS_IGNORE),
		  MPI_ERR_TYPE);
	COUNT(MPI_Bcast, 0);
	must_fail("MPI_Bcast", MPI_Bcast(buf, N, MPI_INT, on->size, comm), MPI_ERR_ROOT);
	COUNT(MPI_Allreduce, 0);
	/* (MPICH does not look at an Allreduce's count) */
	must_fail("MPI_Allreduce",
		  MPI_Allreduce(buf, buf + N / 2, N / 2, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&comm);
}

void calls_types(const struct calls *on)
{
	strided(on);
	structs(on);
	handles_again(on);
	nothing(on);
	large();
	failures(on);
}
