/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages (MPI-4.0 chapter 4), where the MPI has them. */
#include "tests/conformance/suite.h"

#if MPI_VERSION >= 4

enum { PARTS = 4, EACH = 2, N = PARTS * EACH, TAG = 250 };

static void ready(const struct suite *s, int round, MPI_Request request)
{
	int list[] = {1, 3};

	(void)s;
	if (round == 0) {
		for (int i = PARTS - 1; i >= 0; i--)
			SUITE(MPI_Pready(i, request));
	} else if (round == 1) {
		SUITE(MPI_Pready_range(0, PARTS - 1, request));
	} else {
		SUITE(MPI_Pready_list(2, list, request));
		SUITE(MPI_Pready(0, request));
		SUITE(MPI_Pready(2, request));
	}
}

void suite_partitions(const struct suite *s)
{
	int out[N], in[N] = {0}, arrived;
	MPI_Request r[2];
	MPI_Status st[2];

	SUITE(MPI_Precv_init(in, PARTS, EACH, MPI_INT, s->left, TAG, s->comm, MPI_INFO_NULL,
			     &r[0]));
	SUITE(MPI_Psend_init(out, PARTS, EACH, MPI_INT, s->right, TAG, s->comm, MPI_INFO_NULL,
			     &r[1]));
	for (int round = 0; round < 3; round++) {
		suite_fill(out, N, s->rank, round);
		SUITE(MPI_Startall(2, r));
		ready(s, round, r[1]);
		for (int i = 0; i < PARTS; i++) {
			arrived = 0;
			while (!arrived)
				MPI_Parrived(r[0], i, &arrived);
			suite_ints("MPI_Parrived", in + i * EACH, EACH);
		}
		suite_mark(st, 2);
		SUITE(MPI_Waitall(2, r, st));
		suite_status("partitioned", &st[0], MPI_INT);
		suite_requests("partitioned", r, 2);
	}
	SUITE(MPI_Request_free(&r[0]));
	SUITE(MPI_Request_free(&r[1]));
}

#else

void suite_partitions(const struct suite *s)
{
	(void)s;
	suite_say("this MPI has none");
}

#endif
