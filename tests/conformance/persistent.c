/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent messages: each kind prepared once, started often, also when inactive or empty. */
#include <stdlib.h>

#include "tests/conformance/suite.h"

enum { N = 4, TAG = 200, ROUNDS = 3 };

typedef int init_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const struct init_kind {
	const char *name;
	init_call *init;
} kinds[] = {
	{"MPI_Send_init", MPI_Send_init},
	{"MPI_Bsend_init", MPI_Bsend_init},
	{"MPI_Ssend_init", MPI_Ssend_init},
	{"MPI_Rsend_init", MPI_Rsend_init},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void rounds(const struct suite *s, int k)
{
	int out[N], in[N] = {0}, flag;
	MPI_Request r[2];
	MPI_Status st[2];

	SUITE(MPI_Recv_init(in, N, MPI_INT, k % 2 ? s->left : MPI_ANY_SOURCE, TAG + k, s->comm,
			    &r[0]));
	suite_rc(kinds[k].name, kinds[k].init(out, k, MPI_INT, s->right, TAG + k, s->comm, &r[1]));
	/* inactive: complete at once, with an empty status */
	suite_mark(st, 2);
	SUITE(MPI_Wait(&r[0], &st[0]));
	suite_status("inactive", &st[0], MPI_INT);
	SUITE(MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE));
	suite_say("inactive: %d", flag);
	for (int round = 0; round < ROUNDS; round++) {
		suite_fill(out, N, s->rank, round);
		suite_mark(st, 2);
		SUITE(MPI_Start(&r[0]));
		SUITE(MPI_Barrier(s->comm));
		SUITE(MPI_Start(&r[1]));
		SUITE(MPI_Waitall(2, r, round ? st : MPI_STATUSES_IGNORE));
		suite_requests("persistent", r, 2);
		if (round)
			suite_status(kinds[k].name, &st[0], MPI_INT);
		suite_ints(kinds[k].name, in, N);
	}
	SUITE(MPI_Request_free(&r[0]));
	SUITE(MPI_Request_free(&r[1]));
	suite_requests("MPI_Request_free", r, 2);
}

static void all_at_once(const struct suite *s)
{
	int out[N], in[N] = {0}, flag, seen[2] = {0}, index;
	MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status status;

	suite_fill(out, N, s->rank, 7);
	SUITE(MPI_Recv_init(in, N, MPI_INT, s->left, TAG, s->comm, &r[0]));
	SUITE(MPI_Send_init(out, N, MPI_INT, s->right, TAG, s->comm, &r[1]));
	SUITE(MPI_Startall(2, r));
	for (int i = 0; i < 2; i++) {
		suite_mark(&status, 1);
		MPI_Waitany(3, r, &index, &status);
		seen[index]++;
		if (index == 0)
			suite_status("MPI_Startall", &status, MPI_INT);
	}
	suite_ints("each once", seen, 2);
	SUITE(MPI_Waitany(3, r, &index, MPI_STATUS_IGNORE));
	suite_say("none is active: %d", index == MPI_UNDEFINED);
	SUITE(MPI_Startall(2, r));
	for (flag = 0; !flag;)
		MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
	suite_ints("MPI_Startall", in, N);
	SUITE(MPI_Startall(0, NULL));
	/* cancelled after its start, when nobody sends, then started again */
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_Start(&r[0]));
	SUITE(MPI_Cancel(&r[0]));
	suite_mark(&status, 1);
	SUITE(MPI_Wait(&r[0], &status));
	SUITE(MPI_Test_cancelled(&status, &flag));
	suite_say("cancelled: %d", flag);
	SUITE(MPI_Barrier(s->comm));
	SUITE(MPI_Startall(2, r));
	SUITE(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	suite_ints("started again", in, N);
	SUITE(MPI_Request_free(&r[0]));
	SUITE(MPI_Request_free(&r[1]));
}

static void nobody(const struct suite *s)
{
	int buf[N] = {0};
	MPI_Request r[2];
	MPI_Status st[2];

	SUITE(MPI_Recv_init(buf, N, MPI_INT, MPI_PROC_NULL, TAG, s->comm, &r[0]));
	SUITE(MPI_Send_init(buf, N, MPI_INT, MPI_PROC_NULL, TAG, s->comm, &r[1]));
	for (int round = 0; round < 2; round++) {
		SUITE(MPI_Startall(2, r));
		suite_mark(st, 2);
		SUITE(MPI_Waitall(2, r, st));
		suite_status("nobody", &st[0], MPI_INT);
	}
	SUITE(MPI_Request_free(&r[0]));
	SUITE(MPI_Request_free(&r[1]));
}

void suite_persistent(const struct suite *s)
{
	enum { ROOM = 1 << 16 };
	void *room = malloc(ROOM);
	int bytes;

	MPI_Buffer_attach(room, ROOM);
	for (int k = 0; k < KINDS; k++)
		rounds(s, k);
	MPI_Buffer_detach(&room, &bytes);
	free(room);
	all_at_once(s);
	nobody(s);
}
