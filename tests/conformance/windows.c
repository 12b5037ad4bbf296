/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows made in every way, and each one-sided operation in an epoch of fences. */
#include <string.h>

#include "tests/conformance/suite.h"

enum { N = 8, UNIT = sizeof(int) };

static void window_begin(MPI_Win win)
{
	SUITE(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	SUITE(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
}

static void moved(const struct suite *s, MPI_Win win, int *memory)
{
	int out[N], got[N] = {0}, wrong;

	suite_fill(out, N, s->rank, 1);
	window_begin(win);
	SUITE(MPI_Put(out, 2, MPI_INT, s->right, 0, 2, MPI_INT, win));
	SUITE(MPI_Put(out, 0, MPI_INT, s->right, 0, 0, MPI_INT, win));
	SUITE(MPI_Put(out, 2, MPI_INT, MPI_PROC_NULL, 0, 2, MPI_INT, win));
	SUITE(MPI_Accumulate(out, 2, MPI_INT, s->left, 2, 2, MPI_INT, MPI_SUM, win));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("MPI_Put, MPI_Accumulate", memory, N);
	SUITE(MPI_Get(got, N, MPI_INT, s->right, 0, N, MPI_INT, win));
	SUITE(MPI_Get(got, N, MPI_INT, MPI_PROC_NULL, 0, N, MPI_INT, win));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("MPI_Get", got, N);
	SUITE(MPI_Get_accumulate(out, 1, MPI_INT, got, 1, MPI_INT, s->right, 4, 1, MPI_INT, MPI_SUM,
				 win));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("MPI_Get_accumulate", got, 1);
	SUITE(MPI_Get_accumulate(NULL, 0, MPI_INT, got, 2, MPI_INT, s->right, 4, 2, MPI_INT,
				 MPI_NO_OP, win));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("MPI_NO_OP", got, 2);
	SUITE(MPI_Fetch_and_op(out, got, MPI_INT, s->left, 5, MPI_REPLACE, win));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("MPI_Fetch_and_op", got, 1);
	wrong = -1;
	SUITE(MPI_Compare_and_swap(&wrong, out, got, MPI_INT, s->left, 6, win));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("MPI_Compare_and_swap", got, 1);
	SUITE(MPI_Put(out, 1, MPI_INT, s->size + 3, 0, 1, MPI_INT, win));
	SUITE(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	suite_ints("at the end", memory, N);
}

static void derived(const struct suite *s, MPI_Win win, int *memory)
{
	int out[N];
	MPI_Datatype every_other;

	suite_fill(out, N, s->rank, 2);
	SUITE(MPI_Type_vector(3, 1, 2, MPI_INT, &every_other));
	SUITE(MPI_Type_commit(&every_other));
	SUITE(MPI_Win_fence(0, win));
	SUITE(MPI_Put(out, 3, MPI_INT, s->right, 1, 1, every_other, win));
	SUITE(MPI_Type_free(&every_other));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("every other", memory, N);
}

static void made(const struct suite *s)
{
	int memory[N], *given = NULL;
	MPI_Win win;

	suite_fill(memory, N, s->rank, 3);
	SUITE(MPI_Win_create(memory, sizeof(memory), UNIT, MPI_INFO_NULL, s->comm, &win));
	moved(s, win, memory);
	derived(s, win, memory);
	SUITE(MPI_Win_free(&win));
	suite_say("freed: %d", win == MPI_WIN_NULL);
	SUITE(MPI_Win_create(s->rank ? memory : NULL, s->rank ? sizeof(memory) : 0, UNIT,
			     MPI_INFO_NULL, s->comm, &win));
	SUITE(MPI_Win_fence(0, win));
	SUITE(MPI_Win_free(&win));
	SUITE(MPI_Win_allocate(N * UNIT, UNIT, MPI_INFO_NULL, s->comm, (void *)&given, &win));
	suite_fill(given, N, s->rank, 4);
	moved(s, win, given);
	SUITE(MPI_Win_free(&win));
}

static void shared(const struct suite *s)
{
	int *own = NULL, *next = NULL, unit = 0, rank, size;
	MPI_Aint bytes = 0;
	MPI_Comm node;
	MPI_Win win;

	SUITE(MPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, &node));
	MPI_Comm_rank(node, &rank);
	MPI_Comm_size(node, &size);
	SUITE(MPI_Win_allocate_shared(N * UNIT, UNIT, MPI_INFO_NULL, node, (void *)&own, &win));
	SUITE(MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, (void *)&next));
	suite_say("%lld bytes, unit %d", (long long)bytes, unit);
	SUITE(MPI_Win_fence(0, win));
	suite_fill(own, N, rank, 5);
	SUITE(MPI_Win_sync(win));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("what the next wrote", next, N);
	SUITE(MPI_Win_fence(0, win));
	SUITE(MPI_Win_free(&win));
	SUITE(MPI_Comm_free(&node));
}

static void dynamic(const struct suite *s)
{
	int memory[N] = {0}, out[2];
	MPI_Aint own, there;
	MPI_Status status;
	MPI_Info info;
	MPI_Win win;

	suite_fill(out, 2, s->rank, 6);
	SUITE(MPI_Win_create_dynamic(MPI_INFO_NULL, s->comm, &win));
	SUITE(MPI_Info_create(&info));
	SUITE(MPI_Info_set(info, "no_locks", "false"));
	SUITE(MPI_Win_set_info(win, info));
	SUITE(MPI_Info_free(&info));
	SUITE(MPI_Win_attach(win, memory, sizeof(memory)));
	MPI_Get_address(memory, &own);
	SUITE(MPI_Sendrecv(&own, 1, MPI_AINT, s->left, 1, &there, 1, MPI_AINT, s->right, 1, s->comm,
			   &status));
	SUITE(MPI_Win_fence(0, win));
	SUITE(MPI_Put(out, 2, MPI_INT, s->right, there, 2, MPI_INT, win));
	SUITE(MPI_Win_fence(0, win));
	suite_ints("dynamic", memory, N);
	SUITE(MPI_Win_detach(win, memory));
	SUITE(MPI_Win_free(&win));
}

void suite_windows(const struct suite *s)
{
	made(s);
	shared(s);
	dynamic(s);
}
