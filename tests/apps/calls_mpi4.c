/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI-4 has more: messages in parts, exchanges by request, counts beyond int. */
#include <stdlib.h>

#include "tests/apps/calls.h"

#if MPI_VERSION >= 4

enum { N = 8, PARTS = 4, TAG = 120 };

static void partitioned(const struct calls *on)
{
	int out[PARTS * N], in[PARTS * N], list[] = {3}, came = 0;
	MPI_Request send, receive;

	COUNT(MPI_Psend_init, 0);
	MPI_Psend_init(out, PARTS, N, MPI_INT, on->right, TAG, on->comm, MPI_INFO_NULL, &send);
	COUNT(MPI_Precv_init, 0);
	MPI_Precv_init(in, PARTS, N, MPI_INT, on->left, TAG, on->comm, MPI_INFO_NULL, &receive);
	for (int k = 0; k < 2; k++) {
		calls_fill(out, PARTS * N, on->rank, k);
		COUNT(MPI_Start, INTS(PARTS * N));
		MPI_Start(&receive);
		COUNT(MPI_Start, INTS(PARTS * N));
		MPI_Start(&send);
		COUNT(MPI_Pready, 0);
		MPI_Pready(0, send);
		COUNT(MPI_Pready_range, 0);
		MPI_Pready_range(1, 2, send);
		COUNT(MPI_Pready_list, 0);
		MPI_Pready_list(1, list, send);
		calls_wait("MPI_Psend_init", &send, INTS(PARTS * N));
		for (MPI_Parrived(receive, 1, &came); !came; MPI_Parrived(receive, 1, &came))
			COUNT_POLL(MPI_Parrived);
		COUNT(MPI_Parrived, 0);
		calls_wait("MPI_Precv_init", &receive, INTS(PARTS * N));
		calls_check("MPI_Precv_init", in, PARTS * N, on->left, k);
	}
	COUNT(MPI_Request_free, 0);
	MPI_Request_free(&send);
	COUNT(MPI_Request_free, 0);
	MPI_Request_free(&receive);
}

static void exchanges(const struct calls *on)
{
	int out[N], in[N];
	MPI_Request request;

	calls_fill(out, N - 1, on->rank, 1);
	COUNT(MPI_Isendrecv, INTS(N - 1));
	MPI_Isendrecv(out, N - 1, MPI_INT, on->right, TAG, in, N, MPI_INT, on->left, TAG, on->comm,
		      &request);
	calls_wait("MPI_Isendrecv", &request, INTS(N)); /* the room */
	calls_check("MPI_Isendrecv", in, N - 1, on->left, 1);
	COUNT(MPI_Isendrecv_replace, INTS(N));
	MPI_Isendrecv_replace(out, N, MPI_INT, on->right, TAG, on->left, TAG, on->comm, &request);
	calls_wait("MPI_Isendrecv_replace", &request, INTS(N));
	calls_check("MPI_Isendrecv_replace", out, N - 1, on->left, 1);
}

/* Recorded as what they do: the names without the c. */
static void large(const struct calls *on)
{
	MPI_Count n = N, *counts = calloc((size_t)on->size, sizeof(*counts));
	MPI_Aint *starts = calloc((size_t)on->size, sizeof(*starts));
	int out[N], *in = calloc((size_t)on->size, INTS(N));
	MPI_Request request;

	calls_must(counts && starts && in, "no memory");
	for (int i = 0; i < on->size; i++) {
		counts[i] = n;
		starts[i] = i * N;
	}
	calls_fill(out, N, on->rank, 2);
	COUNT(MPI_Irecv, INTS(N));
	MPI_Irecv_c(in, n, MPI_INT, on->left, TAG, on->comm, &request);
	COUNT(MPI_Send, INTS(N));
	MPI_Send_c(out, n, MPI_INT, on->right, TAG, on->comm);
	calls_wait("MPI_Irecv", &request, INTS(N));
	calls_check("MPI_Irecv_c", in, N, on->left, 2);
	COUNT(MPI_Allgatherv, INTS(N));
	MPI_Allgatherv_c(out, n, MPI_INT, in, counts, starts, MPI_INT, on->comm);
	calls_check("MPI_Allgatherv_c", in + N * on->left, N, on->left, 2);
	COUNT(MPI_Reduce_scatter, INTS(N * on->size));
	MPI_Reduce_scatter_c(in, out, counts, MPI_INT, MPI_MAX, on->comm);
	calls_check("MPI_Reduce_scatter_c", out, N, on->rank, 2);
	free(counts);
	free(starts);
	free(in);
}

static void idup(const struct calls *on)
{
	MPI_Request request;
	MPI_Comm comm;

	COUNT(MPI_Comm_idup_with_info, 0);
	MPI_Comm_idup_with_info(on->comm, MPI_INFO_NULL, &comm, &request);
	calls_wait("MPI_Comm_idup_with_info", &request, 0);
	COUNT(MPI_Barrier, 0);
	MPI_Barrier(comm);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&comm);
}

void calls_mpi4(const struct calls *on)
{
	partitioned(on);
	exchanges(on);
	large(on);
	idup(on);
}

#else

void calls_mpi4(const struct calls *on)
{
	(void)on;
}

#endif
