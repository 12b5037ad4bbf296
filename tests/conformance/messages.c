/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking messages: each kind of send, each kind of receive, empty ones, nobody's, anybody's. */
#include <stdlib.h>

#include "tests/conformance/suite.h"

enum { N = 6, TAG = 3 };

typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static const struct send_kind {
	const char *name;
	send_call *send;
} kinds[] = {
	{"MPI_Send", MPI_Send},
	{"MPI_Bsend", MPI_Bsend},
	{"MPI_Ssend", MPI_Ssend},
	{"MPI_Rsend", MPI_Rsend},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* From each rank to the next on the ring; who receives has posted it when the other sends. */
static void kinds_send(const struct suite *s)
{
	for (int k = 0; k < KINDS; k++)
		for (int n = 0; n <= N; n += N / 2) {
			int to[N], from[N] = {0};
			MPI_Request request;
			MPI_Status status;

			suite_fill(to, N, s->rank, k);
			suite_mark(&status, 1);
			SUITE(MPI_Irecv(from, N, MPI_INT, s->left, TAG + k, s->comm, &request));
			SUITE(MPI_Barrier(s->comm));
			suite_rc(kinds[k].name, kinds[k].send(n ? to : NULL, n, MPI_INT, s->right,
							      TAG + k, s->comm));
			SUITE(MPI_Wait(&request, &status));
			suite_requests("MPI_Wait", &request, 1);
			suite_status(kinds[k].name, &status, MPI_INT);
			suite_ints(kinds[k].name, from, N);
		}
}

/* Rank 0 hears all others by MPI_Recv, with and without wildcards and statuses. */
static void receives(const struct suite *s)
{
	int buf[N] = {0};
	MPI_Status status;

	if (s->rank != 0) {
		suite_fill(buf, N, s->rank, 9);
		SUITE(MPI_Send(buf, s->rank % N, MPI_INT, 0, TAG + s->rank, s->comm));
		SUITE(MPI_Send(buf, N, MPI_INT, 0, 50 + s->rank, s->comm));
		SUITE(MPI_Send(buf, N, MPI_INT, 0, TAG, s->comm));
		return;
	}
	for (int from = 1; from < s->size; from++) {
		suite_mark(&status, 1);
		SUITE(MPI_Recv(buf, N, MPI_INT, from, MPI_ANY_TAG, s->comm, &status));
		suite_status("MPI_Recv any tag", &status, MPI_INT);
		suite_mark(&status, 1);
		SUITE(MPI_Recv(buf, N, MPI_INT, MPI_ANY_SOURCE, 50 + from, s->comm, &status));
		suite_status("MPI_Recv any source", &status, MPI_INT);
		suite_ints("MPI_Recv any source", buf, N);
		SUITE(MPI_Recv(buf, N, MPI_INT, from, TAG, s->comm, MPI_STATUS_IGNORE));
		suite_ints("MPI_Recv ignored", buf, N);
	}
}

static void exchanges(const struct suite *s)
{
	int to[N], from[N] = {0};
	MPI_Status status;

	suite_fill(to, N, s->rank, 11);
	suite_mark(&status, 1);
	SUITE(MPI_Sendrecv(to, s->rank % 2 ? N : 2, MPI_INT, s->right, TAG, from, N, MPI_INT,
			   s->left, TAG, s->comm, &status));
	suite_status("MPI_Sendrecv", &status, MPI_INT);
	suite_ints("MPI_Sendrecv", from, N);
	SUITE(MPI_Sendrecv(to, N, MPI_INT, s->left, TAG, from, N, MPI_INT, s->right, MPI_ANY_TAG,
			   s->comm, MPI_STATUS_IGNORE));
	suite_ints("MPI_Sendrecv ignored", from, N);
	suite_mark(&status, 1);
	SUITE(MPI_Sendrecv_replace(to, N, MPI_INT, s->right, TAG, s->left, TAG, s->comm, &status));
	suite_status("MPI_Sendrecv_replace", &status, MPI_INT);
	suite_ints("MPI_Sendrecv_replace", to, N);
	SUITE(MPI_Sendrecv_replace(to, 0, MPI_INT, s->right, TAG, s->left, TAG, s->comm,
				   MPI_STATUS_IGNORE));
}

/* The nonblocking ones that MPI-4.0 has. */
static void started(const struct suite *s)
{
#if MPI_VERSION >= 4
	int to[N], from[N] = {0};
	MPI_Request request;
	MPI_Status status;

	suite_fill(to, N, s->rank, 12);
	suite_mark(&status, 1);
	SUITE(MPI_Isendrecv(to, 3, MPI_INT, s->right, TAG, from, N, MPI_INT, s->left, TAG, s->comm,
			    &request));
	SUITE(MPI_Wait(&request, &status));
	suite_status("MPI_Isendrecv", &status, MPI_INT);
	suite_ints("MPI_Isendrecv", from, N);
	SUITE(MPI_Isendrecv_replace(to, N, MPI_INT, s->right, TAG, s->left, TAG, s->comm,
				    &request));
	SUITE(MPI_Wait(&request, MPI_STATUS_IGNORE));
	suite_ints("MPI_Isendrecv_replace", to, N);
#else
	(void)s;
#endif
}

/* To and from MPI_PROC_NULL: nothing moves, and the status says so (MPI-3.1 3.11). */
static void nobody(const struct suite *s)
{
	int buf[N] = {0}, flag = -1;
	MPI_Request requests[2];
	MPI_Status status, statuses[2];
	MPI_Message message;

	for (int k = 0; k < KINDS; k++)
		suite_rc(kinds[k].name,
			 kinds[k].send(buf, N, MPI_INT, MPI_PROC_NULL, TAG, s->comm));
	suite_mark(&status, 1);
	SUITE(MPI_Recv(buf, N, MPI_INT, MPI_PROC_NULL, TAG, s->comm, &status));
	suite_status("MPI_Recv nobody", &status, MPI_INT);
	SUITE(MPI_Recv(buf, N, MPI_INT, MPI_PROC_NULL, TAG, s->comm, MPI_STATUS_IGNORE));
	SUITE(MPI_Sendrecv(buf, N, MPI_INT, MPI_PROC_NULL, TAG, buf, 0, MPI_INT, MPI_PROC_NULL, TAG,
			   s->comm, &status));
	suite_status("MPI_Sendrecv nobody", &status, MPI_INT);
	SUITE(MPI_Isend(buf, N, MPI_INT, MPI_PROC_NULL, TAG, s->comm, &requests[0]));
	SUITE(MPI_Irecv(buf, N, MPI_INT, MPI_PROC_NULL, TAG, s->comm, &requests[1]));
	suite_mark(statuses, 2);
	SUITE(MPI_Waitall(2, requests, statuses));
	suite_status("MPI_Irecv nobody", &statuses[1], MPI_INT);
	suite_mark(&status, 1);
	SUITE(MPI_Iprobe(MPI_PROC_NULL, TAG, s->comm, &flag, &status));
	suite_status(flag ? "MPI_Iprobe nobody" : "not found", &status, MPI_INT);
	suite_mark(&status, 1);
	SUITE(MPI_Mprobe(MPI_PROC_NULL, TAG, s->comm, &message, &status));
	suite_say("message is MPI_MESSAGE_NO_PROC: %d", message == MPI_MESSAGE_NO_PROC);
	suite_mark(&status, 1);
	SUITE(MPI_Mrecv(buf, N, MPI_INT, &message, &status));
	suite_status("MPI_Mrecv nobody", &status, MPI_INT);
	suite_say("message is MPI_MESSAGE_NULL: %d", message == MPI_MESSAGE_NULL);
	suite_ints("nothing came", buf, N);
}

void suite_messages(const struct suite *s)
{
	enum { ROOM = 1 << 16 };
	void *room = malloc(ROOM), *was = NULL;
	int bytes = 0;

	SUITE(MPI_Buffer_attach(room, ROOM));
	kinds_send(s);
	receives(s);
	SUITE(MPI_Barrier(s->comm));
	exchanges(s);
	started(s);
	nobody(s);
	SUITE(MPI_Buffer_detach(&was, &bytes));
	suite_say("the buffer is the one that was attached: %d, %d bytes", was == room, bytes);
	free(room);
}
