/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided calls: windows of every kind, each way to synchronise, requests. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 16, ROUNDS = 3 };

/* A window of N ints of every rank. */
struct window {
	MPI_Win win;
	int *base;
	MPI_Aint at; /* where the target's numbers begin */
};

static void fence(const struct window *w)
{
	COUNT(MPI_Win_fence, 0);
	MPI_Win_fence(0, w->win);
}

static void put_right(const struct calls *on, const struct window *w, int *out, int n, int what)
{
	calls_fill(out, n, on->rank, what);
	COUNT(MPI_Put, INTS(n));
	MPI_Put(out, n, MPI_INT, on->right, w->at, n, MPI_INT, w->win);
}

static void win_free(struct window *w)
{
	COUNT(MPI_Win_free, 0);
	MPI_Win_free(&w->win);
}

/* Everyone writes to the right, reads from the left, and adds to the right. */
static void fences(const struct calls *on, const struct window *w)
{
	int out[N], in[N], one[N];

	for (int i = 0; i < N; i++)
		one[i] = 1;
	fence(w);
	put_right(on, w, out, N, 1);
	fence(w);
	calls_check("MPI_Put", w->base, N, on->left, 1);
	fence(w);
	COUNT(MPI_Get, INTS(N / 2));
	MPI_Get(in, N / 2, MPI_INT, on->right, w->at, N / 2, MPI_INT, w->win);
	fence(w);
	calls_check("MPI_Get", in, N / 2, on->rank, 1);
	COUNT(MPI_Accumulate, INTS(N));
	MPI_Accumulate(one, N, MPI_INT, on->right, w->at, N, MPI_INT, MPI_SUM, w->win);
	COUNT(MPI_Put, 0);
	MPI_Put(out, N, MPI_INT, MPI_PROC_NULL, 0, N, MPI_INT, w->win);
	fence(w);
	for (int i = 0; i < N; i++)
		w->base[i]--;
	calls_check("MPI_Accumulate", w->base, N, on->left, 1);
	fence(w);
}

/* Only those who have to do with each other wait for each other. */
static void groups(const struct calls *on, const struct window *w)
{
	MPI_Group all, left, right;
	int out[N];

	MPI_Comm_group(on->comm, &all);
	MPI_Group_incl(all, 1, &on->left, &left);
	MPI_Group_incl(all, 1, &on->right, &right);
	for (int k = 0; k < ROUNDS; k++) {
		COUNT(MPI_Win_post, 0);
		MPI_Win_post(left, 0, w->win);
		COUNT(MPI_Win_start, 0);
		MPI_Win_start(right, 0, w->win);
		put_right(on, w, out, N - k, k);
		COUNT(MPI_Win_complete, 0);
		MPI_Win_complete(w->win);
		if (k == 0) {
			COUNT(MPI_Win_wait, 0);
			MPI_Win_wait(w->win);
		} else {
			int done = 0;

			for (MPI_Win_test(w->win, &done); !done; MPI_Win_test(w->win, &done))
				COUNT_POLL(MPI_Win_test);
			COUNT(MPI_Win_test, 0);
		}
		calls_check("MPI_Win_start", w->base, N - k, on->left, k);
	}
	MPI_Group_free(&right);
	MPI_Group_free(&left);
	MPI_Group_free(&all);
}

static void locks(const struct calls *on, const struct window *w)
{
	int out[N], in[N];

	COUNT(MPI_Win_lock, 0);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, on->right, 0, w->win);
	put_right(on, w, out, N, 5);
	COUNT(MPI_Win_flush, 0);
	MPI_Win_flush(on->right, w->win);
	COUNT(MPI_Get, INTS(N));
	MPI_Get(in, N, MPI_INT, on->right, w->at, N, MPI_INT, w->win);
	COUNT(MPI_Win_flush_local, 0);
	MPI_Win_flush_local(on->right, w->win);
	calls_check("MPI_Win_lock", in, N, on->rank, 5);
	COUNT(MPI_Win_unlock, 0);
	MPI_Win_unlock(on->right, w->win);
}

static void atomics(const struct calls *on, const struct window *w)
{
	int out[N] = {0}, in[N], seen = -1, zero = 0, one = 1;

	COUNT(MPI_Put, INTS(N));
	MPI_Put(out, N, MPI_INT, on->right, w->at, N, MPI_INT, w->win);
	COUNT(MPI_Win_flush_all, 0);
	MPI_Win_flush_all(w->win);
	COUNT(MPI_Fetch_and_op, INTS(1));
	MPI_Fetch_and_op(&one, &seen, MPI_INT, on->right, w->at, MPI_SUM, w->win);
	COUNT(MPI_Win_flush_local_all, 0);
	MPI_Win_flush_local_all(w->win);
	calls_must(seen == 0, "MPI_Fetch_and_op: %d", seen);
	COUNT(MPI_Compare_and_swap, INTS(1));
	MPI_Compare_and_swap(&zero, &one, &seen, MPI_INT, on->right, w->at, w->win);
	COUNT(MPI_Win_flush, 0);
	MPI_Win_flush(on->right, w->win);
	calls_must(seen == 1, "MPI_Compare_and_swap: %d", seen);
	COUNT(MPI_Get_accumulate, INTS(N));
	MPI_Get_accumulate(NULL, 0, MPI_INT, in, N, MPI_INT, on->right, w->at, N, MPI_INT,
			   MPI_NO_OP, w->win);
	COUNT(MPI_Win_flush, 0);
	MPI_Win_flush(on->right, w->win);
	calls_must(in[0] == 0, "MPI_Get_accumulate: %d", in[0]);
}

static void requests(const struct calls *on, const struct window *w)
{
	int out[N], in[N], zero[N] = {0};
	MPI_Request request;

	calls_fill(out, N, on->rank, 6);
	COUNT(MPI_Rput, INTS(N));
	MPI_Rput(out, N, MPI_INT, on->right, w->at, N, MPI_INT, w->win, &request);
	calls_wait("MPI_Rput", &request, INTS(N));
	COUNT(MPI_Win_flush_all, 0);
	MPI_Win_flush_all(w->win);
	COUNT(MPI_Raccumulate, INTS(N - 1));
	MPI_Raccumulate(zero, N - 1, MPI_INT, on->right, w->at, N - 1, MPI_INT, MPI_SUM, w->win,
			&request);
	calls_wait("MPI_Raccumulate", &request, INTS(N - 1));
	COUNT(MPI_Win_flush_all, 0);
	MPI_Win_flush_all(w->win);
	COUNT(MPI_Rget, INTS(N - 2));
	MPI_Rget(in, N - 2, MPI_INT, on->right, w->at, N - 2, MPI_INT, w->win, &request);
	calls_wait("MPI_Rget", &request, INTS(N - 2));
	calls_check("MPI_Rget", in, N - 2, on->rank, 6);
	COUNT(MPI_Rget_accumulate, INTS(N - 3));
	MPI_Rget_accumulate(zero, N - 3, MPI_INT, in, N - 3, MPI_INT, on->right, w->at, N - 3,
			    MPI_INT, MPI_SUM, w->win, &request);
	calls_wait("MPI_Rget_accumulate", &request, INTS(N - 3));
	calls_check("MPI_Rget_accumulate", in, N - 3, on->rank, 6);
}

static void lock_all(const struct calls *on, const struct window *w)
{
	COUNT(MPI_Win_lock_all, 0);
	MPI_Win_lock_all(0, w->win);
	atomics(on, w);
	requests(on, w);
	COUNT(MPI_Win_sync, 0);
	MPI_Win_sync(w->win);
	COUNT(MPI_Win_unlock_all, 0);
	MPI_Win_unlock_all(w->win);
}

/* Memory that joins the window later is found by its address. */
static void attached(const struct calls *on)
{
	int memory[N];
	struct window w = {.base = memory};
	MPI_Aint mine;

	COUNT(MPI_Win_create_dynamic, 0);
	MPI_Win_create_dynamic(MPI_INFO_NULL, on->comm, &w.win);
	COUNT(MPI_Win_attach, 0);
	MPI_Win_attach(w.win, memory, sizeof(memory));
	MPI_Get_address(memory, &mine);
	COUNT(MPI_Sendrecv, sizeof(mine));
	counts_done("MPI_Sendrecv", 1, sizeof(mine));
	MPI_Sendrecv(&mine, 1, MPI_AINT, on->left, 0, &w.at, 1, MPI_AINT, on->right, 0, on->comm,
		     MPI_STATUS_IGNORE);
	fences(on, &w);
	COUNT(MPI_Win_detach, 0);
	MPI_Win_detach(w.win, memory);
	win_free(&w);
}

/* Over the program's own memory. */
static void created(const struct calls *on)
{
	int memory[N];
	struct window w = {.base = memory};
	MPI_Info info;

	COUNT(MPI_Win_create, 0);
	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, on->comm, &w.win);
	MPI_Info_create(&info);
	COUNT(MPI_Win_set_info, 0);
	MPI_Win_set_info(w.win, info);
	MPI_Info_free(&info);
	fences(on, &w);
	groups(on, &w);
	win_free(&w);
}

/* Of ranks that have memory in common: those of one host. */
static void shared(const struct calls *on)
{
	struct window w = {.at = 0};
	struct calls here;
	MPI_Comm comm;

	COUNT(MPI_Comm_split_type, 0);
	MPI_Comm_split_type(on->comm, MPI_COMM_TYPE_SHARED, on->rank, MPI_INFO_NULL, &comm);
	calls_on(&here, comm);
	COUNT(MPI_Win_allocate_shared, 0);
	MPI_Win_allocate_shared(INTS(N), sizeof(int), MPI_INFO_NULL, comm, &w.base, &w.win);
	fences(&here, &w);
	win_free(&w);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&comm);
}

void calls_window(const struct calls *on)
{
	struct window w = {.at = 0};

	COUNT(MPI_Win_allocate, 0);
	MPI_Win_allocate(INTS(N), sizeof(int), MPI_INFO_NULL, on->comm, &w.base, &w.win);
	fences(on, &w);
	locks(on, &w);
	COUNT(MPI_Barrier, 0);
	MPI_Barrier(on->comm); /* the other side's lock is over */
	lock_all(on, &w);
	win_free(&w);
	shared(on);
	/* Open MPI has neither of these for a rank alone */
	if (on->size > 1) {
		created(on);
		attached(on);
	}
}
