/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking point-to-point calls, completed by each of the Wait and Test calls. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { PAIRS = 4, REQUESTS = 2 * PAIRS, N = 48, TAG = 40 };

static const struct mode {
	const char *op;
	int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
} modes[] = {
	{"MPI_Isend", MPI_Isend},
	{"MPI_Issend", MPI_Issend},
	{"MPI_Irsend", MPI_Irsend},
	{"MPI_Ibsend", MPI_Ibsend},
};

enum { MODES = sizeof(modes) / sizeof(modes[0]) };

/* --- the ways to complete: all requests, statuses into @st unless it is NULL --------------- */

static MPI_Status *status_of(MPI_Status *st, int i)
{
	return st ? &st[i] : MPI_STATUS_IGNORE;
}

static void by_wait(MPI_Request *r, MPI_Status *st)
{
	for (int i = 0; i < REQUESTS; i++) {
		COUNT(MPI_Wait, 0);
		MPI_Wait(&r[i], status_of(st, i));
	}
}

static void by_waitall(MPI_Request *r, MPI_Status *st)
{
	COUNT(MPI_Waitall, 0);
	MPI_Waitall(REQUESTS, r, st ? st : MPI_STATUSES_IGNORE);
}

static void by_waitany(MPI_Request *r, MPI_Status *st)
{
	int index;

	/* Once more than there are requests: the last finds none that is active. */
	for (int i = 0; i <= REQUESTS; i++) {
		MPI_Status status;

		COUNT(MPI_Waitany, 0);
		MPI_Waitany(REQUESTS, r, &index, st ? &status : MPI_STATUS_IGNORE);
		if (i == REQUESTS)
			calls_must(index == MPI_UNDEFINED, "MPI_Waitany without requests: %d",
				   index);
		else if (st)
			st[index] = status;
	}
}

/* Statuses of Waitsome and Testsome come in the order of the indices, not of the requests. */
static void statuses_place(MPI_Status *st, const MPI_Status *some, const int *indices, int n)
{
	for (int i = 0; st && i < n; i++)
		st[indices[i]] = some[i];
}

static void by_waitsome(MPI_Request *r, MPI_Status *st)
{
	MPI_Status some[REQUESTS];
	int indices[REQUESTS], n = 0;

	while (n != MPI_UNDEFINED) {
		COUNT(MPI_Waitsome, 0);
		MPI_Waitsome(REQUESTS, r, &n, indices, st ? some : MPI_STATUSES_IGNORE);
		statuses_place(st, some, indices, n);
	}
}

static void by_test(MPI_Request *r, MPI_Status *st)
{
	for (int i = 0; i < REQUESTS; i++) {
		int done = 0;

		for (;;) {
			MPI_Test(&r[i], &done, status_of(st, i));
			if (done)
				break;
			COUNT_POLL(MPI_Test);
		}
		COUNT(MPI_Test, 0);
	}
}

static void by_testall(MPI_Request *r, MPI_Status *st)
{
	int done = 0;

	for (;;) {
		MPI_Testall(REQUESTS, r, &done, st ? st : MPI_STATUSES_IGNORE);
		if (done)
			break;
		COUNT_POLL(MPI_Testall);
	}
	COUNT(MPI_Testall, 0);
}

static void by_testany(MPI_Request *r, MPI_Status *st)
{
	int index = 0;

	while (index != MPI_UNDEFINED) {
		MPI_Status status;
		int done = 0;

		MPI_Testany(REQUESTS, r, &index, &done, st ? &status : MPI_STATUS_IGNORE);
		if (!done) {
			index = 0; /* it was MPI_UNDEFINED: none was ready */
			COUNT_POLL(MPI_Testany);
			continue;
		}
		COUNT(MPI_Testany, 0);
		if (st && index != MPI_UNDEFINED)
			st[index] = status;
	}
}

static void by_testsome(MPI_Request *r, MPI_Status *st)
{
	MPI_Status some[REQUESTS];
	int indices[REQUESTS], n = 0;

	while (n != MPI_UNDEFINED) {
		MPI_Testsome(REQUESTS, r, &n, indices, st ? some : MPI_STATUSES_IGNORE);
		if (n == 0) {
			COUNT_POLL(MPI_Testsome);
			continue;
		}
		COUNT(MPI_Testsome, 0);
		statuses_place(st, some, indices, n);
	}
}

static void (*const ways[])(MPI_Request *r, MPI_Status *st) = {
	by_wait, by_waitall, by_waitany, by_waitsome, by_test, by_testall, by_testany, by_testsome,
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* --- what is completed --------------------------------------------------------------------- */

/* Messages of different lengths, one of them empty, into buffers with room for more. */
static int length_of(int pair)
{
	return N / PAIRS * pair;
}

static void requests_start(const struct calls *on, const struct mode *mode, MPI_Request *r,
			   int out[PAIRS][N], int in[PAIRS][N])
{
	for (int i = 0; i < PAIRS; i++) {
		COUNT(MPI_Irecv, INTS(N));
		MPI_Irecv(in[i], N, MPI_INT, i % 2 ? on->left : MPI_ANY_SOURCE, TAG + i, on->comm,
			  &r[2 * i]);
	}
	COUNT(MPI_Barrier, 0);
	MPI_Barrier(on->comm); /* Irsend needs receives that are posted */
	for (int i = PAIRS - 1; i >= 0; i--) {
		const int n = length_of(i);

		calls_fill(out[i], n, on->rank, i);
		counts_call(mode->op, INTS(n));
		mode->send(out[i], n, MPI_INT, on->right, TAG + i, on->comm, &r[2 * i + 1]);
	}
}

static void requests_check(const struct calls *on, const struct mode *mode, const MPI_Request *r,
			   const MPI_Status *st, int in[PAIRS][N])
{
	for (int i = 0; i < PAIRS; i++) {
		const int n = length_of(i);
		int came = n;

		counts_done("MPI_Irecv", 1, INTS(n));
		counts_done(mode->op, 1, INTS(n));
		calls_check(mode->op, in[i], n, on->left, i);
		calls_must(r[2 * i] == MPI_REQUEST_NULL && r[2 * i + 1] == MPI_REQUEST_NULL,
			   "%s: a completed request is not MPI_REQUEST_NULL", mode->op);
		if (!st)
			continue;
		MPI_Get_count(&st[2 * i], MPI_INT, &came);
		calls_must(came == n && st[2 * i].MPI_SOURCE == on->left &&
				   st[2 * i].MPI_TAG == TAG + i,
			   "%s: status of %d numbers, source %d, tag %d", mode->op, came,
			   st[2 * i].MPI_SOURCE, st[2 * i].MPI_TAG);
	}
}

static void requests_complete(const struct calls *on, const struct mode *mode, int way,
			      int with_status)
{
	int out[PAIRS][N], in[PAIRS][N];
	MPI_Request r[REQUESTS];
	MPI_Status st[REQUESTS];

	requests_start(on, mode, r, out, in);
	ways[way](r, with_status ? st : NULL);
	requests_check(on, mode, r, with_status ? st : NULL, in);
}

/* Completion calls on requests that are none complete nothing. */
static void nothing_to_complete(void)
{
	MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int done = 0, index, n;

	COUNT(MPI_Wait, 0);
	MPI_Wait(&none[0], MPI_STATUS_IGNORE);
	COUNT(MPI_Test, 0);
	MPI_Test(&none[0], &done, MPI_STATUS_IGNORE);
	calls_must(done, "MPI_Test of no request");
	COUNT(MPI_Waitall, 0);
	MPI_Waitall(2, none, MPI_STATUSES_IGNORE);
	COUNT(MPI_Waitall, 0);
	MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
	COUNT(MPI_Testall, 0);
	MPI_Testall(2, none, &done, MPI_STATUSES_IGNORE);
	calls_must(done, "MPI_Testall of no requests");
	COUNT(MPI_Testany, 0);
	MPI_Testany(2, none, &index, &done, MPI_STATUS_IGNORE);
	calls_must(done && index == MPI_UNDEFINED, "MPI_Testany of no requests");
	COUNT(MPI_Waitsome, 0);
	MPI_Waitsome(2, none, &n, &index, MPI_STATUSES_IGNORE);
	calls_must(n == MPI_UNDEFINED, "MPI_Waitsome of no requests");
}

/*
 * A poll that surely is in vain: the message comes only after all have polled. Without a neighbour,
 * with one rank, too.
 */
static void vain_polls(const struct calls *on)
{
	int out = on->rank, in = -1, done = 0;
	MPI_Request receive;

	COUNT(MPI_Irecv, INTS(1));
	MPI_Irecv(&in, 1, MPI_INT, on->left, TAG, on->comm, &receive);
	for (int i = 0; i < 10; i++) {
		MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
		calls_must(!done, "MPI_Test: a message came before it was sent");
		COUNT_POLL(MPI_Test);
	}
	COUNT(MPI_Barrier, 0);
	MPI_Barrier(on->comm);
	COUNT(MPI_Send, INTS(1));
	MPI_Send(&out, 1, MPI_INT, on->right, TAG, on->comm);
	calls_wait("MPI_Irecv", &receive, INTS(1));
	calls_must(in == on->left, "MPI_Irecv: %d", in);
}

void calls_requests(const struct calls *on)
{
	int room = PAIRS * ((int)INTS(N) + MPI_BSEND_OVERHEAD), size;
	char *buffer = malloc((size_t)room);

	for (int m = 0; m < MODES; m++) {
		for (int way = 0; way < 2 * WAYS; way++) {
			MPI_Buffer_attach(buffer, room);
			requests_complete(on, &modes[m], way / 2, way % 2);
			COUNT(MPI_Buffer_detach, 0);
			MPI_Buffer_detach(&buffer, &size);
		}
	}
	free(buffer);
	nothing_to_complete();
	vain_polls(on);
}
