/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking point-to-point calls: the four send modes, receives with all wildcards, probes. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 64, TAG = 20 };

static const struct mode {
	const char *op;
	int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
} modes[] = {
	{"MPI_Send", MPI_Send},
	{"MPI_Ssend", MPI_Ssend},
	{"MPI_Rsend", MPI_Rsend},
	{"MPI_Bsend", MPI_Bsend},
};

enum { MODES = sizeof(modes) / sizeof(modes[0]) };

static void isend_right(const struct calls *on, const int *buf, int n, int tag, MPI_Request *r)
{
	COUNT(MPI_Isend, INTS(n));
	MPI_Isend(buf, n, MPI_INT, on->right, tag, on->comm, r);
}

/* All modes, to a receive that is posted; a ready send needs to know that it is. */
static void send_modes(const struct calls *on)
{
	int out[N], in[N], room = (int)INTS(N) + MPI_BSEND_OVERHEAD, size;
	char *buffer = malloc((size_t)room);

	MPI_Buffer_attach(buffer, room);
	for (int m = 0; m < MODES; m++) {
		MPI_Request receive;
		int n = N >> m;

		COUNT(MPI_Irecv, INTS(N));
		MPI_Irecv(in, N, MPI_INT, on->left, TAG + m, on->comm, &receive);
		COUNT(MPI_Barrier, 0);
		MPI_Barrier(on->comm);
		calls_fill(out, n, on->rank, m);
		counts_call(modes[m].op, INTS(n));
		modes[m].send(out, n, MPI_INT, on->right, TAG + m, on->comm);
		calls_wait("MPI_Irecv", &receive, INTS(n));
		calls_check(modes[m].op, in, n, on->left, m);
	}
	COUNT(MPI_Buffer_detach, 0);
	MPI_Buffer_detach(&buffer, &size);
	free(buffer);
}

/* Source and tag named or not, status wanted or not, more room than is needed, nothing at all. */
static void receives(const struct calls *on)
{
	static const int lengths[] = {N, N / 2, 1, 0};
	int out[N], in[N];

	for (int k = 0; k < 8; k++) {
		const int n = lengths[k / 2], tag = k % 2 ? MPI_ANY_TAG : TAG + k;
		const int from = k % 4 < 2 ? on->left : MPI_ANY_SOURCE;
		MPI_Request send;
		MPI_Status status;
		int came = -1;

		calls_fill(out, n, on->rank, k);
		isend_right(on, out, n, TAG + k, &send);
		COUNT(MPI_Recv, INTS(n));
		if (k % 3 == 0) {
			MPI_Recv(in, N, MPI_INT, from, tag, on->comm, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(in, N, MPI_INT, from, tag, on->comm, &status);
			MPI_Get_count(&status, MPI_INT, &came);
			calls_must(came == n && status.MPI_SOURCE == on->left &&
					   status.MPI_TAG == TAG + k,
				   "MPI_Recv: %d numbers, source %d, tag %d", came,
				   status.MPI_SOURCE, status.MPI_TAG);
		}
		calls_wait("MPI_Isend", &send, INTS(n));
		calls_check("MPI_Recv", in, n, on->left, k);
	}
}

static void sendrecvs(const struct calls *on)
{
	int out[N], in[N];
	MPI_Status status;

	calls_fill(out, N / 2, on->rank, 1);
	COUNT(MPI_Sendrecv, INTS(N / 2));
	counts_done("MPI_Sendrecv", 1, INTS(N / 2));
	MPI_Sendrecv(out, N / 2, MPI_INT, on->right, TAG, in, N, MPI_INT, on->left, TAG, on->comm,
		     &status);
	calls_check("MPI_Sendrecv", in, N / 2, on->left, 1);
	calls_must(status.MPI_SOURCE == on->left, "MPI_Sendrecv: source %d", status.MPI_SOURCE);

	calls_fill(in, N, on->rank, 2);
	COUNT(MPI_Sendrecv_replace, INTS(N));
	counts_done("MPI_Sendrecv_replace", 1, INTS(N));
	MPI_Sendrecv_replace(in, N, MPI_INT, on->right, TAG, on->left, TAG, on->comm,
			     MPI_STATUS_IGNORE);
	calls_check("MPI_Sendrecv_replace", in, N, on->left, 2);
}

static void to_nobody(const struct calls *on)
{
	int out[N] = {0}, in[N] = {7};
	MPI_Request requests[2];
	MPI_Status status;

	COUNT(MPI_Send, 0);
	MPI_Send(out, N, MPI_INT, MPI_PROC_NULL, TAG, on->comm);
	COUNT(MPI_Recv, 0);
	MPI_Recv(in, N, MPI_INT, MPI_PROC_NULL, TAG, on->comm, &status);
	calls_must(status.MPI_SOURCE == MPI_PROC_NULL && in[0] == 7, "MPI_Recv from nobody");
	COUNT(MPI_Sendrecv, 0);
	counts_done("MPI_Sendrecv", 1, 0);
	MPI_Sendrecv(out, N, MPI_INT, MPI_PROC_NULL, TAG, in, N, MPI_INT, MPI_PROC_NULL, TAG,
		     on->comm, MPI_STATUS_IGNORE);
	COUNT(MPI_Probe, 0);
	MPI_Probe(MPI_PROC_NULL, TAG, on->comm, MPI_STATUS_IGNORE);
	COUNT(MPI_Isend, 0);
	MPI_Isend(out, N, MPI_INT, MPI_PROC_NULL, TAG, on->comm, &requests[0]);
	COUNT(MPI_Irecv, 0);
	MPI_Irecv(in, N, MPI_INT, MPI_PROC_NULL, TAG, on->comm, &requests[1]);
	COUNT(MPI_Waitall, 0);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	counts_done("MPI_Isend", 1, 0);
	counts_done("MPI_Irecv", 1, 0);
}

static void probes(const struct calls *on)
{
	int out[N], in[N], came, found = 0;
	MPI_Request send;
	MPI_Status status;

	calls_fill(out, 5, on->rank, 3);
	isend_right(on, out, 5, TAG, &send);
	COUNT(MPI_Probe, 0);
	MPI_Probe(MPI_ANY_SOURCE, TAG, on->comm, &status);
	MPI_Get_count(&status, MPI_INT, &came);
	calls_must(came == 5 && status.MPI_SOURCE == on->left, "MPI_Probe: %d numbers", came);
	for (;;) {
		MPI_Iprobe(on->left, MPI_ANY_TAG, on->comm, &found, MPI_STATUS_IGNORE);
		if (found)
			break;
		COUNT_POLL(MPI_Iprobe);
	}
	COUNT(MPI_Iprobe, 0);
	COUNT(MPI_Recv, INTS(5));
	MPI_Recv(in, N, MPI_INT, on->left, TAG, on->comm, MPI_STATUS_IGNORE);
	calls_wait("MPI_Isend", &send, INTS(5));
	calls_check("MPI_Probe", in, 5, on->left, 3);
}

static void matched_probes(const struct calls *on)
{
	int out[N], in[N], found = 0;
	MPI_Request sends[2], receive;
	MPI_Message message;

	calls_fill(out, N, on->rank, 4);
	isend_right(on, out, 6, TAG, &sends[0]);
	isend_right(on, out, 7, TAG + 1, &sends[1]);
	COUNT(MPI_Mprobe, 0);
	MPI_Mprobe(on->left, TAG + 1, on->comm, &message, MPI_STATUS_IGNORE);
	COUNT(MPI_Mrecv, INTS(7));
	MPI_Mrecv(in, N, MPI_INT, &message, MPI_STATUS_IGNORE);
	calls_check("MPI_Mrecv", in, 7, on->left, 4);
	for (;;) {
		MPI_Improbe(on->left, TAG, on->comm, &found, &message, MPI_STATUS_IGNORE);
		if (found)
			break;
		COUNT_POLL(MPI_Improbe);
	}
	COUNT(MPI_Improbe, 0);
	COUNT(MPI_Imrecv, INTS(N));
	MPI_Imrecv(in, N, MPI_INT, &message, &receive);
	calls_wait("MPI_Imrecv", &receive, INTS(6));
	calls_check("MPI_Imrecv", in, 6, on->left, 4);
	calls_wait("MPI_Isend", &sends[0], INTS(6));
	calls_wait("MPI_Isend", &sends[1], INTS(7));
}

void calls_p2p(const struct calls *on)
{
	send_modes(on);
	receives(on);
	sendrecvs(on);
	to_nobody(on);
	probes(on);
	matched_probes(on);
}
