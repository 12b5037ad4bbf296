/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of nonblocking messages, completed by each of the Wait and Test calls. */
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/suite.h"

enum { PAIRS = 4, REQUESTS = 2 * PAIRS, N = 6, TAG = 100 };

typedef int isend_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const struct isend_kind {
	const char *name;
	isend_call *send;
} kinds[] = {
	{"MPI_Isend", MPI_Isend},
	{"MPI_Ibsend", MPI_Ibsend},
	{"MPI_Issend", MPI_Issend},
	{"MPI_Irsend", MPI_Irsend},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static MPI_Status *at(MPI_Status *statuses, int i)
{
	return statuses ? &statuses[i] : MPI_STATUS_IGNORE;
}

static void by_wait(MPI_Request *r, MPI_Status *st)
{
	for (int i = 0; i < REQUESTS; i++)
		SUITE(MPI_Wait(&r[i], at(st, i)));
}

static void by_waitall(MPI_Request *r, MPI_Status *st)
{
	SUITE(MPI_Waitall(REQUESTS, r, st ? st : MPI_STATUSES_IGNORE));
}

/* Which comes first differs from run to run: only where all have come is written down. */
static void by_waitany(MPI_Request *r, MPI_Status *st)
{
	for (int index = 0, i = 0; i <= REQUESTS; i++) {
		MPI_Status one;

		suite_mark(&one, 1);
		SUITE(MPI_Waitany(REQUESTS, r, &index, st ? &one : MPI_STATUS_IGNORE));
		if (i == REQUESTS)
			suite_say("none is left: %d", index == MPI_UNDEFINED);
		else if (st)
			st[index] = one;
	}
}

static void place(MPI_Status *st, const MPI_Status *some, const int *indices, int n)
{
	for (int i = 0; st && i < n; i++)
		st[indices[i]] = some[i];
}

static void by_waitsome(MPI_Request *r, MPI_Status *st)
{
	MPI_Status some[REQUESTS];
	int indices[REQUESTS], n = 0, left = REQUESTS;

	while (left > 0) {
		suite_mark(some, REQUESTS);
		MPI_Waitsome(REQUESTS, r, &n, indices, st ? some : MPI_STATUSES_IGNORE);
		place(st, some, indices, n);
		left -= n;
	}
	SUITE(MPI_Waitsome(REQUESTS, r, &n, indices, MPI_STATUSES_IGNORE));
	suite_say("none is left: %d", n == MPI_UNDEFINED);
}

static void by_test(MPI_Request *r, MPI_Status *st)
{
	for (int i = 0; i < REQUESTS; i++)
		for (int done = 0; !done;)
			MPI_Test(&r[i], &done, at(st, i));
}

static void by_testall(MPI_Request *r, MPI_Status *st)
{
	for (int done = 0; !done;)
		MPI_Testall(REQUESTS, r, &done, st ? st : MPI_STATUSES_IGNORE);
}

static void by_testany(MPI_Request *r, MPI_Status *st)
{
	int index = 0, done = 0;

	for (int left = REQUESTS; left > 0; left -= done) {
		MPI_Status one;

		suite_mark(&one, 1);
		MPI_Testany(REQUESTS, r, &index, &done, st ? &one : MPI_STATUS_IGNORE);
		if (done && st)
			st[index] = one;
	}
	SUITE(MPI_Testany(REQUESTS, r, &index, &done, MPI_STATUS_IGNORE));
	suite_say("none is left: %d %d", done, index == MPI_UNDEFINED);
}

static void by_testsome(MPI_Request *r, MPI_Status *st)
{
	MPI_Status some[REQUESTS];
	int indices[REQUESTS], n = 0, left = REQUESTS;

	while (left > 0) {
		suite_mark(some, REQUESTS);
		MPI_Testsome(REQUESTS, r, &n, indices, st ? some : MPI_STATUSES_IGNORE);
		place(st, some, indices, n);
		left -= n;
	}
	SUITE(MPI_Testsome(REQUESTS, r, &n, indices, MPI_STATUSES_IGNORE));
	suite_say("none is left: %d", n == MPI_UNDEFINED);
}

static void by_get_status(MPI_Request *r, MPI_Status *st)
{
	for (int i = 0; i < REQUESTS; i++) {
		for (int done = 0; !done;)
			MPI_Request_get_status(r[i], &done, at(st, i));
		suite_requests("MPI_Request_get_status", &r[i], 1);
		SUITE(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
	}
}

static const struct way {
	const char *name;
	void (*complete)(MPI_Request *r, MPI_Status *st);
} ways[] = {
	{"MPI_Wait", by_wait},
	{"MPI_Waitall", by_waitall},
	{"MPI_Waitany", by_waitany},
	{"MPI_Waitsome", by_waitsome},
	{"MPI_Test", by_test},
	{"MPI_Testall", by_testall},
	{"MPI_Testany", by_testany},
	{"MPI_Testsome", by_testsome},
	{"MPI_Request_get_status", by_get_status},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* Four receives and four sends; every other receive is from anybody, one message is empty. */
static void way_try(const struct suite *s, const struct isend_kind *kind, const struct way *way,
		    bool ignore)
{
	int out[PAIRS][N], in[PAIRS][N];
	MPI_Request r[REQUESTS];
	MPI_Status st[REQUESTS];

	suite_say("%s by %s%s", kind->name, way->name, ignore ? ", ignored" : "");
	memset(in, 0, sizeof(in));
	suite_mark(st, REQUESTS);
	for (int i = 0; i < PAIRS; i++)
		MPI_Irecv(in[i], N, MPI_INT, i % 2 ? s->left : MPI_ANY_SOURCE, TAG + i, s->comm,
			  &r[2 * i]);
	MPI_Barrier(s->comm);
	for (int i = PAIRS - 1; i >= 0; i--) {
		suite_fill(out[i], N, s->rank, i);
		suite_rc(kind->name, kind->send(out[i], 2 * i, MPI_INT, s->right, TAG + i, s->comm,
						&r[2 * i + 1]));
	}
	way->complete(r, ignore ? NULL : st);
	suite_requests(way->name, r, REQUESTS);
	for (int i = 0; i < PAIRS; i++) {
		if (!ignore)
			suite_status("received", &st[2 * i], MPI_INT);
		suite_ints("received", in[i], N);
	}
}

/* Nothing to wait for: lists that are empty, NULL, or hold null requests (MPI-3.1 3.7.5). */
static void nothing(void)
{
	MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status st[3];
	int index = 5, flag = 5, n = 5, indices[3];

	suite_mark(st, 3);
	SUITE(MPI_Wait(&none[0], &st[0]));
	suite_status("MPI_Wait", &st[0], MPI_INT);
	suite_mark(st, 3);
	SUITE(MPI_Test(&none[0], &flag, &st[0]));
	suite_status("MPI_Test", &st[0], MPI_INT);
	suite_mark(st, 3);
	SUITE(MPI_Waitall(3, none, st));
	suite_status("MPI_Waitall", &st[2], MPI_INT);
	SUITE(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
	SUITE(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
	suite_say("MPI_Testall: %d", flag);
	suite_mark(st, 3);
	SUITE(MPI_Waitany(3, none, &index, &st[0]));
	suite_say("MPI_Waitany: %d", index == MPI_UNDEFINED);
	suite_status("MPI_Waitany", &st[0], MPI_INT);
	SUITE(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
	SUITE(MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE));
	suite_say("MPI_Testany: %d %d", index == MPI_UNDEFINED, flag);
	SUITE(MPI_Waitsome(3, none, &n, indices, st));
	suite_say("MPI_Waitsome: %d", n == MPI_UNDEFINED);
	SUITE(MPI_Testsome(0, NULL, &n, indices, MPI_STATUSES_IGNORE));
	suite_say("MPI_Testsome: %d", n == MPI_UNDEFINED);
	suite_mark(st, 3);
	SUITE(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &st[0]));
	suite_say("MPI_Request_get_status: %d", flag);
}

/* More requests than a collector keeps room for on its stack; sends that are freed at once. */
static void many(const struct suite *s)
{
	enum { MANY = 1500 };
	MPI_Request *r = malloc(2 * MANY * sizeof(*r));
	int *in = calloc(MANY, sizeof(*in)), *out = malloc(MANY * sizeof(*out)), wrong = 0;
	MPI_Request given_up;

	suite_fill(out, MANY, s->rank, 1);
	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, s->left, i, s->comm, &r[i]);
	for (int i = 0; i < MANY; i++)
		MPI_Isend(&out[i], 1, MPI_INT, s->right, i, s->comm, &r[MANY + i]);
	SUITE(MPI_Waitall(2 * MANY, r, MPI_STATUSES_IGNORE));
	for (int i = 0; i < MANY; i++)
		wrong += in[i] != suite_value(s->left, 1, i) || r[i] != MPI_REQUEST_NULL;
	suite_say("of many, wrong: %d", wrong);
	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, s->left, i, s->comm, &r[i]);
	for (int i = 0; i < MANY; i++)
		MPI_Isend(&out[i], 1, MPI_INT, s->right, i, s->comm, &r[MANY + i]);
	for (int done = 0; !done;)
		MPI_Testall(2 * MANY, r, &done, MPI_STATUSES_IGNORE);
	suite_say("all were tested: %d", r[2 * MANY - 1] == MPI_REQUEST_NULL);
	SUITE(MPI_Isend(out, 1, MPI_INT, s->right, TAG, s->comm, &given_up));
	SUITE(MPI_Request_free(&given_up));
	SUITE(MPI_Recv(in, 1, MPI_INT, s->left, TAG, s->comm, MPI_STATUS_IGNORE));
	suite_requests("MPI_Request_free", &given_up, 1);
	suite_ints("after MPI_Request_free", in, 1);
	free(out);
	free(in);
	free(r);
}

void suite_completions(const struct suite *s)
{
	enum { ROOM = 1 << 18 };
	void *room = malloc(ROOM);
	int bytes;

	MPI_Buffer_attach(room, ROOM);
	for (int k = 0; k < KINDS; k++)
		for (int w = 0; w < WAYS; w++)
			for (int ignore = 0; ignore < 2; ignore++)
				way_try(s, &kinds[k], &ways[w], ignore);
	nothing();
	many(s);
	MPI_Buffer_detach(&room, &bytes);
	free(room);
}
