/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes: with gaps, empty, absolute (MPI_BOTTOM), freed while in use; packing. */
#include <stddef.h>

#include "tests/conformance/suite.h"

enum { N = 12, TAG = 300 };

static void swapped(const struct suite *s, const char *name, const void *out, int nout,
		    MPI_Datatype to, void *in, int nin, MPI_Datatype from)
{
	MPI_Status status;

	suite_mark(&status, 1);
	suite_rc(name, MPI_Sendrecv(out, nout, to, s->right, TAG, in, nin, from, s->left, TAG,
				    s->comm, &status));
	suite_status(name, &status, from);
}

static void gaps(const struct suite *s)
{
	static const int lengths[] = {1, 0, 3}, places[] = {0, 5, 8};
	int out[N], in[N] = {0};
	MPI_Datatype vector, indexed, resized, empty;

	suite_fill(out, N, s->rank, 1);
	SUITE(MPI_Type_vector(3, 1, 4, MPI_INT, &vector));
	SUITE(MPI_Type_commit(&vector));
	SUITE(MPI_Type_indexed(3, lengths, places, MPI_INT, &indexed));
	SUITE(MPI_Type_commit(&indexed));
	SUITE(MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &resized));
	SUITE(MPI_Type_commit(&resized));
	SUITE(MPI_Type_contiguous(0, MPI_INT, &empty));
	SUITE(MPI_Type_commit(&empty));
	swapped(s, "vector", out, 1, vector, in, 1, vector);
	suite_ints("vector", in, N);
	swapped(s, "indexed", out, 1, indexed, in, N, MPI_INT);
	suite_ints("indexed", in, N);
	swapped(s, "resized", out, 3, MPI_INT, in, 3, resized);
	suite_ints("resized", in, N);
	swapped(s, "empty", out, 5, empty, in, 5, empty);
	/* less than one whole vector: a count that is not defined */
	swapped(s, "part of a vector", out, 2, MPI_INT, in, 1, vector);
	suite_ints("part of a vector", in, N);
	SUITE(MPI_Bcast(in, 1, vector, 0, s->comm));
	SUITE(MPI_Allreduce(MPI_IN_PLACE, in, 0, MPI_INT, MPI_SUM, s->comm));
	suite_ints("after all", in, N);
	SUITE(MPI_Type_free(&vector));
	SUITE(MPI_Type_free(&indexed));
	SUITE(MPI_Type_free(&resized));
	SUITE(MPI_Type_free(&empty));
	suite_say("null: %d", vector == MPI_DATATYPE_NULL);
}

struct mixed {
	char letter;
	double number;
	int count;
};

static void absolute(const struct suite *s)
{
	const int lengths[] = {1, 1, 1};
	struct mixed out = {.letter = (char)('a' + s->rank), .number = 0.5 + s->rank, .count = 7};
	struct mixed in = {.letter = '-', .number = -1, .count = -1};
	const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
	MPI_Aint outs[3], ins[3];
	MPI_Datatype here, there;

	MPI_Get_address(&out.letter, &outs[0]);
	MPI_Get_address(&out.number, &outs[1]);
	MPI_Get_address(&out.count, &outs[2]);
	MPI_Get_address(&in.letter, &ins[0]);
	MPI_Get_address(&in.number, &ins[1]);
	MPI_Get_address(&in.count, &ins[2]);
	SUITE(MPI_Type_create_struct(3, lengths, outs, types, &here));
	SUITE(MPI_Type_commit(&here));
	SUITE(MPI_Type_create_struct(3, lengths, ins, types, &there));
	SUITE(MPI_Type_commit(&there));
	swapped(s, "absolute", MPI_BOTTOM, 1, here, MPI_BOTTOM, 1, there);
	suite_say("absolute: %c %.2f %d", in.letter, in.number, in.count);
	if (s->rank == 0)
		SUITE(MPI_Bcast(MPI_BOTTOM, 1, here, 0, s->comm));
	else
		SUITE(MPI_Bcast(MPI_BOTTOM, 1, there, 0, s->comm));
	suite_say("absolute: %c %.2f %d", in.letter, in.number, in.count);
	SUITE(MPI_Type_free(&here));
	SUITE(MPI_Type_free(&there));
}

/* A type lives on until what uses it is complete (MPI-3.1 4.1.9); its handle may come again. */
static void freed_in_use(const struct suite *s)
{
	int out[N], in[N] = {0};
	MPI_Request r[2];
	MPI_Status st[2];
	MPI_Datatype type;

	for (int k = 1; k < 4; k++) {
		suite_fill(out, N, s->rank, k);
		suite_mark(st, 2);
		SUITE(MPI_Type_contiguous(k, MPI_INT, &type));
		SUITE(MPI_Type_commit(&type));
		SUITE(MPI_Irecv(in, 2, type, s->left, TAG + k, s->comm, &r[0]));
		SUITE(MPI_Isend(out, 2, type, s->right, TAG + k, s->comm, &r[1]));
		SUITE(MPI_Type_free(&type));
		SUITE(MPI_Waitall(2, r, st));
		suite_status("freed", &st[0], MPI_INT);
		suite_ints("freed", in, N);
	}
}

static void packed(const struct suite *s)
{
	int numbers[N], in[N] = {0}, at = 0, size = 0;
	char letter = (char)('A' + s->rank), back = '-', out[200], got[200];
	MPI_Status status;

	suite_fill(numbers, N, s->rank, 5);
	suite_mark(&status, 1);
	SUITE(MPI_Pack_size(N, MPI_INT, s->comm, &size));
	suite_say("packed size %d", size);
	SUITE(MPI_Pack(numbers, N, MPI_INT, out, (int)sizeof(out), &at, s->comm));
	SUITE(MPI_Pack(&letter, 1, MPI_CHAR, out, (int)sizeof(out), &at, s->comm));
	suite_say("packed up to %d", at);
	SUITE(MPI_Sendrecv(out, at, MPI_PACKED, s->right, TAG, got, (int)sizeof(got), MPI_PACKED,
			   s->left, TAG, s->comm, &status));
	suite_status("packed", &status, MPI_PACKED);
	at = 0;
	SUITE(MPI_Unpack(got, (int)sizeof(got), &at, in, N, MPI_INT, s->comm));
	SUITE(MPI_Unpack(got, (int)sizeof(got), &at, &back, 1, MPI_CHAR, s->comm));
	suite_ints("unpacked", in, N);
	suite_say("unpacked %c up to %d", back, at);
}

void suite_types(const struct suite *s)
{
	gaps(s);
	absolute(s);
	freed_in_use(s);
	packed(s);
}
