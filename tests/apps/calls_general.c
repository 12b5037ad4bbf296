/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that the program itself completes, looks at requests that complete nothing, settings. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 4, TAG = 130 };

static int query(void *state, MPI_Status *status)
{
	(void)state;
	MPI_Status_set_elements(status, MPI_INT, N);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int set_free(void *state)
{
	*(int *)state += 1;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

static void generalized(void)
{
	int freed = 0, done = 1;
	MPI_Request request;

	COUNT(MPI_Grequest_start, 0);
	MPI_Grequest_start(query, set_free, cancel, &freed, &request);
	MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	COUNT_POLL(MPI_Test);
	calls_must(!done, "MPI_Grequest_start: complete before it was");
	COUNT(MPI_Grequest_complete, 0);
	MPI_Grequest_complete(request);
	calls_wait("MPI_Grequest_start", &request, 0);
	calls_must(freed == 1, "MPI_Grequest_start: freed %d times", freed);
}

/* The status is there to be looked at, and the request is still to be completed. */
static void looked_at(const struct calls *on)
{
	int out[N], in[N], done = 1, came = -1;
	MPI_Request receive;
	MPI_Status status;

	calls_fill(out, N, on->rank, 1);
	COUNT(MPI_Irecv, INTS(N));
	MPI_Irecv(in, N, MPI_INT, on->left, TAG, on->comm, &receive);
	MPI_Request_get_status(receive, &done, MPI_STATUS_IGNORE);
	COUNT_POLL(MPI_Request_get_status);
	calls_must(!done, "MPI_Request_get_status: a message came before it was sent");
	COUNT(MPI_Barrier, 0);
	MPI_Barrier(on->comm);
	COUNT(MPI_Send, INTS(N));
	MPI_Send(out, N, MPI_INT, on->right, TAG, on->comm);
	for (MPI_Request_get_status(receive, &done, &status); !done;
	     MPI_Request_get_status(receive, &done, &status))
		COUNT_POLL(MPI_Request_get_status);
	COUNT(MPI_Request_get_status, 0);
	MPI_Get_count(&status, MPI_INT, &came);
	calls_must(came == N, "MPI_Request_get_status: %d numbers", came);
	calls_wait("MPI_Irecv", &receive, INTS(N));
	calls_check("MPI_Request_get_status", in, N, on->left, 1);
}

/* A request is a value: where the program keeps it is the program's matter. */
static void moved(const struct calls *on)
{
	int out[2][N], in[2][N];
	MPI_Request first[2], second[4];

	for (int i = 0; i < 2; i++) {
		calls_fill(out[i], N, on->rank, 2 + i);
		COUNT(MPI_Irecv, INTS(N));
		MPI_Irecv(in[i], N, MPI_INT, on->left, TAG + i, on->comm, &first[i]);
	}
	for (int i = 0; i < 2; i++) {
		MPI_Request request;

		COUNT(MPI_Isend, INTS(N));
		MPI_Isend(out[i], N, MPI_INT, on->right, TAG + i, on->comm, &request);
		second[2 * i] = request;
		second[2 * i + 1] = first[1 - i];
	}
	COUNT(MPI_Waitall, 0);
	MPI_Waitall(4, second, MPI_STATUSES_IGNORE);
	counts_done("MPI_Isend", 2, 2 * INTS(N));
	counts_done("MPI_Irecv", 2, 2 * INTS(N));
	calls_check("MPI_Waitall", in[0], N, on->left, 2);
	calls_check("MPI_Waitall", in[1], N, on->left, 3);
}

void calls_general(const struct calls *on)
{
	MPI_Comm parent;
	MPI_Info info;

	generalized();
	looked_at(on);
	moved(on);
	MPI_Info_create(&info);
	COUNT(MPI_Comm_set_info, 0);
	MPI_Comm_set_info(on->comm, info);
	MPI_Info_free(&info);
	COUNT(MPI_Comm_get_parent, 0);
	MPI_Comm_get_parent(&parent);
}
