/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations in epochs of locks and of start and post; those with requests; flushes. */
#include "tests/conformance/suite.h"

enum { N = 8, UNIT = sizeof(int) };

static void locked(const struct suite *s, MPI_Win win, const int *memory)
{
	int out[N], got[N] = {0};

	suite_fill(out, N, s->rank, 1);
	SUITE(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->right, 0, win));
	SUITE(MPI_Put(out, 2, MPI_INT, s->right, 0, 2, MPI_INT, win));
	SUITE(MPI_Win_flush(s->right, win));
	SUITE(MPI_Get(got, 2, MPI_INT, s->right, 0, 2, MPI_INT, win));
	SUITE(MPI_Win_flush_local(s->right, win));
	suite_ints("locked", got, 2);
	SUITE(MPI_Win_unlock(s->right, win));
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_Win_lock(MPI_LOCK_SHARED, s->rank, 0, win));
	suite_ints("my own", memory, N);
	SUITE(MPI_Win_unlock(s->rank, win));
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_Win_lock_all(0, win));
	SUITE(MPI_Accumulate(out, 2, MPI_INT, s->left, 2, 2, MPI_INT, MPI_MAX, win));
	SUITE(MPI_Win_flush_all(win));
	SUITE(MPI_Get(got, N, MPI_INT, s->rank, 0, 2, MPI_INT, win));
	SUITE(MPI_Win_flush_local_all(win));
	SUITE(MPI_Win_sync(win));
	SUITE(MPI_Win_unlock_all(win));
	SUITE(MPI_Barrier(s->comm));
}

static void with_requests(const struct suite *s, MPI_Win win, const int *memory)
{
	int out[N], got[N] = {0};
	MPI_Request r[2];
	MPI_Status st[2];

	suite_fill(out, N, s->rank, 2);
	suite_mark(st, 2);
	SUITE(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	SUITE(MPI_Rput(out, 2, MPI_INT, s->right, 0, 2, MPI_INT, win, &r[0]));
	SUITE(MPI_Raccumulate(out, 2, MPI_INT, s->right, 2, 2, MPI_INT, MPI_SUM, win, &r[1]));
	SUITE(MPI_Waitall(2, r, st));
	suite_requests("with requests", r, 2);
	SUITE(MPI_Win_flush_all(win));
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_Rget(got, 4, MPI_INT, s->right, 0, 4, MPI_INT, win, &r[0]));
	SUITE(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	suite_ints("MPI_Rget", got, 4);
	SUITE(MPI_Rget_accumulate(out, 1, MPI_INT, got, 1, MPI_INT, s->right, 5, 1, MPI_INT,
				  MPI_SUM, win, &r[0]));
	SUITE(MPI_Waitall(1, r, MPI_STATUSES_IGNORE));
	suite_ints("MPI_Rget_accumulate", got, 1);
	SUITE(MPI_Rput(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &r[0]));
	SUITE(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	SUITE(MPI_Win_unlock_all(win));
	SUITE(MPI_Barrier(s->comm));
	suite_ints("at the end", memory, N);
}

/* Each writes to the right and is written to from the left (MPI-3.1 11.5.2). */
static void posted(const struct suite *s, MPI_Win win, const int *memory)
{
	MPI_Group world, left, right;
	int out[N], flag = 0;

	suite_fill(out, N, s->rank, 3);
	MPI_Comm_group(s->comm, &world);
	MPI_Group_incl(world, 1, &s->left, &left);
	MPI_Group_incl(world, 1, &s->right, &right);
	for (int tested = 0; tested < 2; tested++) {
		SUITE(MPI_Win_post(left, 0, win));
		SUITE(MPI_Win_start(right, 0, win));
		SUITE(MPI_Put(out, 3, MPI_INT, s->right, tested, 3, MPI_INT, win));
		SUITE(MPI_Win_complete(win));
		if (tested)
			for (flag = 0; !flag;)
				MPI_Win_test(win, &flag);
		else
			SUITE(MPI_Win_wait(win));
		suite_ints("posted", memory, N);
	}
	SUITE(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
	SUITE(MPI_Win_complete(win));
	MPI_Group_free(&left);
	MPI_Group_free(&right);
	MPI_Group_free(&world);
}

static void wrong(const struct suite *s, MPI_Win win)
{
	int one = 1;

	SUITE(MPI_Win_lock(MPI_LOCK_SHARED, s->size + 1, 0, win));
	SUITE(MPI_Win_unlock(s->size + 1, win));
	SUITE(MPI_Win_fence(0, MPI_WIN_NULL));
	SUITE(MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
}

void suite_epochs(const struct suite *s)
{
	int *memory = NULL;
	MPI_Win win;

	SUITE(MPI_Win_allocate(N * UNIT, UNIT, MPI_INFO_NULL, s->comm, (void *)&memory, &win));
	SUITE(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	SUITE(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->rank, 0, win));
	suite_fill(memory, N, s->rank, 0);
	SUITE(MPI_Win_unlock(s->rank, win));
	SUITE(MPI_Barrier(s->comm));
	locked(s, win, memory);
	with_requests(s, win, memory);
	posted(s, win, memory);
	wrong(s, win);
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_Win_free(&win));
}
