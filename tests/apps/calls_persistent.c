/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests, requests that are freed while they are active, and cancelled ones. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 32, STARTS = 3, TAG = 60 };

static const struct mode {
	const char *op;
	int (*init)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
} modes[] = {
	{"MPI_Send_init", MPI_Send_init},
	{"MPI_Ssend_init", MPI_Ssend_init},
	{"MPI_Rsend_init", MPI_Rsend_init},
	{"MPI_Bsend_init", MPI_Bsend_init},
};

enum { MODES = sizeof(modes) / sizeof(modes[0]) };

static void request_free(MPI_Request *request)
{
	COUNT(MPI_Request_free, 0);
	MPI_Request_free(request);
}

/* Started one by one; the receive must be posted before a ready send. */
static void start_each(const struct calls *on, const struct mode *mode)
{
	int out[N], in[N];
	MPI_Request send, receive;

	counts_call(mode->op, 0);
	mode->init(out, N / 2, MPI_INT, on->right, TAG, on->comm, &send);
	COUNT(MPI_Recv_init, 0);
	MPI_Recv_init(in, N, MPI_INT, on->left, TAG, on->comm, &receive);
	for (int k = 0; k < STARTS; k++) {
		calls_fill(out, N / 2, on->rank, k);
		COUNT(MPI_Start, INTS(N));
		MPI_Start(&receive);
		COUNT(MPI_Barrier, 0);
		MPI_Barrier(on->comm);
		COUNT(MPI_Start, INTS(N / 2));
		MPI_Start(&send);
		calls_wait("MPI_Recv_init", &receive, INTS(N / 2));
		calls_wait(mode->op, &send, INTS(N / 2));
		calls_check(mode->op, in, N / 2, on->left, k);
		calls_must(send != MPI_REQUEST_NULL, "%s: the request went away", mode->op);
	}
	/* Inactive requests: nothing to wait for, and nothing completes. */
	COUNT(MPI_Wait, 0);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	request_free(&send);
	request_free(&receive);
}

static void start_all(const struct calls *on)
{
	int out[2][N], in[2][N], done;
	MPI_Request r[4];

	for (int i = 0; i < 2; i++) {
		COUNT(MPI_Recv_init, 0);
		MPI_Recv_init(in[i], N, MPI_INT, MPI_ANY_SOURCE, TAG + i, on->comm, &r[2 * i]);
		COUNT(MPI_Send_init, 0);
		MPI_Send_init(out[i], N - i, MPI_INT, on->right, TAG + i, on->comm, &r[2 * i + 1]);
	}
	for (int k = 0; k < STARTS; k++) {
		calls_fill(out[0], N, on->rank, k);
		calls_fill(out[1], N, on->rank, k + 1);
		COUNT(MPI_Startall, 2 * INTS(N) + INTS(N) + INTS(N - 1));
		MPI_Startall(4, r);
		if (k == 0) {
			COUNT(MPI_Waitall, 0);
			MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		} else {
			for (MPI_Testall(4, r, &done, MPI_STATUSES_IGNORE); !done;
			     MPI_Testall(4, r, &done, MPI_STATUSES_IGNORE))
				COUNT_POLL(MPI_Testall);
			COUNT(MPI_Testall, 0);
		}
		counts_done("MPI_Recv_init", 2, INTS(N) + INTS(N - 1));
		counts_done("MPI_Send_init", 2, INTS(N) + INTS(N - 1));
		calls_check("MPI_Startall", in[0], N, on->left, k);
		calls_check("MPI_Startall", in[1], N - 1, on->left, k + 1);
	}
	for (int i = 0; i < 4; i++)
		request_free(&r[i]);
}

/* A program may give an active send away: it happens, but nobody sees its end. */
static void freed_while_active(const struct calls *on)
{
	int out[N], in[N];
	MPI_Request send;

	for (int k = 0; k < STARTS; k++) {
		calls_fill(out, N, on->rank, k);
		COUNT(MPI_Isend, INTS(N));
		MPI_Isend(out, N, MPI_INT, on->right, TAG, on->comm, &send);
		request_free(&send);
		COUNT(MPI_Recv, INTS(N));
		MPI_Recv(in, N, MPI_INT, on->left, TAG, on->comm, MPI_STATUS_IGNORE);
		calls_check("MPI_Request_free", in, N, on->left, k);
		/* Only when all have received may anyone use the buffer again. */
		COUNT(MPI_Barrier, 0);
		MPI_Barrier(on->comm);
	}
}

static void cancelled(const struct calls *on)
{
	int in[N], was = 0;
	MPI_Request receive;
	MPI_Status status;

	COUNT(MPI_Irecv, INTS(N));
	MPI_Irecv(in, N, MPI_INT, on->left, TAG + 10, on->comm, &receive);
	COUNT(MPI_Cancel, 0);
	MPI_Cancel(&receive);
	COUNT(MPI_Wait, 0);
	MPI_Wait(&receive, &status);
	counts_done("MPI_Irecv", 1, 0);
	MPI_Test_cancelled(&status, &was);
	calls_must(was, "MPI_Cancel: a receive that nobody sends to was not cancelled");
}

void calls_persistent(const struct calls *on)
{
	int room = STARTS * ((int)INTS(N) + MPI_BSEND_OVERHEAD), size;
	char *buffer = malloc((size_t)room);

	for (int m = 0; m < MODES; m++) {
		MPI_Buffer_attach(buffer, room);
		start_each(on, &modes[m]);
		COUNT(MPI_Buffer_detach, 0);
		MPI_Buffer_detach(&buffer, &size);
	}
	free(buffer);
	start_all(on);
	freed_while_active(on);
	cancelled(on);
}
