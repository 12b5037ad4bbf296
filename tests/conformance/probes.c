/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are looked for before they are received; matched ones; cancelled ones. */
#include "tests/conformance/suite.h"

enum { N = 5, TAG = 20 };

static void send_to_right(const struct suite *s, int tag, int n)
{
	int buf[N];

	suite_fill(buf, N, s->rank, tag);
	SUITE(MPI_Send(buf, n, MPI_INT, s->right, tag, s->comm));
}

static void looked_for(const struct suite *s)
{
	int buf[N] = {0}, flag = 0;
	MPI_Status status;

	send_to_right(s, TAG, 3);
	suite_mark(&status, 1);
	SUITE(MPI_Probe(MPI_ANY_SOURCE, TAG, s->comm, &status));
	suite_status("MPI_Probe", &status, MPI_INT);
	SUITE(MPI_Probe(s->left, MPI_ANY_TAG, s->comm, MPI_STATUS_IGNORE));
	/* found by Probe already, so Iprobe sees it; others may come with a poll in vain before */
	suite_mark(&status, 1);
	do
		MPI_Iprobe(s->left, TAG, s->comm, &flag, &status);
	while (!flag);
	suite_status("MPI_Iprobe", &status, MPI_INT);
	do
		MPI_Iprobe(s->left, TAG, s->comm, &flag, MPI_STATUS_IGNORE);
	while (!flag);
	SUITE(MPI_Iprobe(s->left, TAG + 99, s->comm, &flag, MPI_STATUS_IGNORE));
	suite_say("MPI_Iprobe of what nobody sends: %d", flag);
	SUITE(MPI_Recv(buf, N, MPI_INT, s->left, TAG, s->comm, MPI_STATUS_IGNORE));
	suite_ints("after MPI_Probe", buf, N);
}

static void matched(const struct suite *s)
{
	int buf[N] = {0}, flag = 0;
	MPI_Message message;
	MPI_Request request;
	MPI_Status status;

	send_to_right(s, TAG + 1, N);
	send_to_right(s, TAG + 2, 0);
	send_to_right(s, TAG + 3, 2);
	send_to_right(s, TAG + 4, 1);
	suite_mark(&status, 1);
	SUITE(MPI_Mprobe(MPI_ANY_SOURCE, TAG + 1, s->comm, &message, &status));
	suite_status("MPI_Mprobe", &status, MPI_INT);
	suite_mark(&status, 1);
	SUITE(MPI_Mrecv(buf, N, MPI_INT, &message, &status));
	suite_status("MPI_Mrecv", &status, MPI_INT);
	suite_ints("MPI_Mrecv", buf, N);
	suite_say("message is null: %d", message == MPI_MESSAGE_NULL);
	SUITE(MPI_Mprobe(s->left, TAG + 2, s->comm, &message, MPI_STATUS_IGNORE));
	SUITE(MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE));
	suite_mark(&status, 1);
	do
		MPI_Improbe(s->left, TAG + 3, s->comm, &flag, &message, &status);
	while (!flag);
	suite_status("MPI_Improbe", &status, MPI_INT);
	SUITE(MPI_Imrecv(buf, N, MPI_INT, &message, &request));
	suite_say("message is null: %d", message == MPI_MESSAGE_NULL);
	suite_mark(&status, 1);
	SUITE(MPI_Wait(&request, &status));
	suite_status("MPI_Imrecv", &status, MPI_INT);
	suite_ints("MPI_Imrecv", buf, N);
	do
		MPI_Improbe(MPI_ANY_SOURCE, TAG + 4, s->comm, &flag, &message, MPI_STATUS_IGNORE);
	while (!flag);
	SUITE(MPI_Imrecv(buf, N, MPI_INT, &message, &request));
	SUITE(MPI_Wait(&request, MPI_STATUS_IGNORE));
	SUITE(MPI_Improbe(s->left, TAG + 99, s->comm, &flag, &message, MPI_STATUS_IGNORE));
	suite_say("MPI_Improbe of what nobody sends: %d", flag);
}

/* A receive that nothing matches can always be cancelled; one that is complete cannot. */
static void cancelled(const struct suite *s)
{
	int buf[N] = {0}, flag = 0;
	MPI_Request requests[2];
	MPI_Status status, statuses[2];

	SUITE(MPI_Irecv(buf, N, MPI_INT, s->left, TAG + 50, s->comm, &requests[0]));
	SUITE(MPI_Cancel(&requests[0]));
	suite_mark(&status, 1);
	SUITE(MPI_Wait(&requests[0], &status));
	SUITE(MPI_Test_cancelled(&status, &flag));
	suite_say("cancelled: %d, request is null: %d", flag, requests[0] == MPI_REQUEST_NULL);
	SUITE(MPI_Irecv(buf, N, MPI_INT, MPI_ANY_SOURCE, TAG + 51, s->comm, &requests[0]));
	SUITE(MPI_Irecv(buf, N, MPI_INT, s->left, TAG + 52, s->comm, &requests[1]));
	SUITE(MPI_Cancel(&requests[0]));
	send_to_right(s, TAG + 52, 4);
	SUITE(MPI_Waitall(2, requests, statuses));
	for (int i = 0; i < 2; i++) {
		SUITE(MPI_Test_cancelled(&statuses[i], &flag));
		suite_say("request %d cancelled: %d", i, flag);
	}
	SUITE(MPI_Irecv(buf, N, MPI_INT, s->left, TAG + 53, s->comm, &requests[0]));
	SUITE(MPI_Cancel(&requests[0]));
	SUITE(MPI_Request_free(&requests[0]));
	suite_say("request is null: %d", requests[0] == MPI_REQUEST_NULL);
}

void suite_probes(const struct suite *s)
{
	looked_for(s);
	matched(s);
	cancelled(s);
}
