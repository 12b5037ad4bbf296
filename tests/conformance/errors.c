/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail, under MPI_ERRORS_RETURN: what they say stays the same, and what comes after. */
#include "tests/conformance/suite.h"

enum { N = 4, TAG = 500 };

static void wrong_arguments(const struct suite *s)
{
	int buf[N] = {0};
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Status status;
	MPI_Comm comm = MPI_COMM_NULL;

	SUITE(MPI_Send(buf, N, MPI_INT, s->size, TAG, s->comm));
	SUITE(MPI_Send(buf, N, MPI_INT, -77, TAG, s->comm));
	SUITE(MPI_Send(buf, -1, MPI_INT, 0, TAG, s->comm));
	SUITE(MPI_Send(buf, N, MPI_INT, 0, -5, s->comm));
	SUITE(MPI_Send(buf, N, MPI_DATATYPE_NULL, 0, TAG, s->comm));
	SUITE(MPI_Send(buf, N, MPI_INT, 0, TAG, MPI_COMM_NULL));
	SUITE(MPI_Recv(buf, N, MPI_INT, s->size, TAG, s->comm, &status));
	SUITE(MPI_Recv(buf, N, MPI_INT, 0, TAG, MPI_COMM_NULL, MPI_STATUS_IGNORE));
	SUITE(MPI_Isend(buf, N, MPI_INT, s->size, TAG, s->comm, &r));
	SUITE(MPI_Irecv(buf, -1, MPI_INT, 0, TAG, s->comm, &r));
	SUITE(MPI_Irecv(buf, N, MPI_INT, 0, TAG, MPI_COMM_NULL, &r));
	SUITE(MPI_Send_init(buf, N, MPI_INT, s->size, TAG, s->comm, &r));
	SUITE(MPI_Sendrecv(buf, N, MPI_INT, s->size, TAG, buf, 0, MPI_INT, 0, TAG, s->comm,
			   &status));
	SUITE(MPI_Probe(s->size, TAG, s->comm, &status));
	SUITE(MPI_Start(&r));
	SUITE(MPI_Cancel(&r));
	SUITE(MPI_Comm_free(&comm));
	SUITE(MPI_Waitall(-1, NULL, MPI_STATUSES_IGNORE));
}

static void wrong_collectives(const struct suite *s)
{
	int buf[N] = {0}, all[N] = {0};
	const int dims[] = {s->size + 1}, periods[] = {0};
	MPI_Comm comm = MPI_COMM_NULL;
	MPI_Request r = MPI_REQUEST_NULL;

	SUITE(MPI_Barrier(MPI_COMM_NULL));
	SUITE(MPI_Bcast(buf, N, MPI_INT, s->size, s->comm));
	SUITE(MPI_Bcast(buf, N, MPI_INT, -9, MPI_COMM_SELF));
	SUITE(MPI_Bcast(buf, -1, MPI_INT, 0, s->comm));
	SUITE(MPI_Gather(buf, 1, MPI_INT, all, 1, MPI_INT, 5, MPI_COMM_SELF));
	SUITE(MPI_Reduce(buf, all, 1, MPI_INT, MPI_OP_NULL, 0, s->comm));
	SUITE(MPI_Ibcast(buf, N, MPI_INT, s->size, s->comm, &r));
	SUITE(MPI_Ibarrier(MPI_COMM_NULL, &r));
	SUITE(MPI_Comm_dup(MPI_COMM_NULL, &comm));
	SUITE(MPI_Comm_split(s->comm, -5, 0, &comm));
	SUITE(MPI_Cart_create(s->comm, 1, dims, periods, 0, &comm));
	SUITE(MPI_Comm_create(s->comm, MPI_GROUP_NULL, &comm));
	SUITE(MPI_Neighbor_allgather(buf, 1, MPI_INT, all, 1, MPI_INT, s->comm));
}

/* Addresses that are none, where both libraries look at them before they use them. */
static void no_addresses(void)
{
	int flag = 0, index = 0, n = 0, indices[N];
	MPI_Request r = MPI_REQUEST_NULL;

	SUITE(MPI_Wait(NULL, MPI_STATUS_IGNORE));
	SUITE(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
	SUITE(MPI_Waitany(2, NULL, &index, MPI_STATUS_IGNORE));
	SUITE(MPI_Waitsome(2, NULL, &n, indices, MPI_STATUSES_IGNORE));
	SUITE(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
	SUITE(MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
	SUITE(MPI_Testany(2, NULL, &index, &flag, MPI_STATUS_IGNORE));
	SUITE(MPI_Testsome(2, NULL, &n, indices, MPI_STATUSES_IGNORE));
	SUITE(MPI_Test(&r, NULL, MPI_STATUS_IGNORE));
	SUITE(MPI_Testany(1, &r, NULL, &flag, MPI_STATUS_IGNORE));
	SUITE(MPI_Testsome(1, &r, NULL, indices, MPI_STATUSES_IGNORE));
	SUITE(MPI_Start(NULL));
	SUITE(MPI_Startall(2, NULL));
	SUITE(MPI_Request_free(NULL));
	SUITE(MPI_Cancel(NULL));
	SUITE(MPI_Isend(&n, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, NULL));
	SUITE(MPI_Comm_dup(MPI_COMM_SELF, NULL));
	SUITE(MPI_Comm_idup(MPI_COMM_SELF, NULL, &r));
	SUITE(MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, NULL,
			     MPI_ERRCODES_IGNORE));
}

/* The same where only one of them does so. */
static void no_addresses_of_one(void)
{
	int buf[N] = {0};
	MPI_Request r = MPI_REQUEST_NULL;

#if defined(OPEN_MPI)
	SUITE(MPI_Alltoallv(buf, NULL, NULL, MPI_INT, buf, NULL, NULL, MPI_INT, MPI_COMM_SELF));
	SUITE(MPI_Alltoallw(buf, NULL, NULL, NULL, buf, NULL, NULL, NULL, MPI_COMM_SELF));
	SUITE(MPI_Ialltoallw(buf, NULL, NULL, NULL, buf, NULL, NULL, NULL, MPI_COMM_SELF, &r));
	SUITE(MPI_Scatterv(buf, NULL, NULL, MPI_INT, buf, 1, MPI_INT, 0, MPI_COMM_SELF));
	SUITE(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, buf, NULL, NULL, MPI_INT, 0, MPI_COMM_SELF));
	SUITE(MPI_Reduce_scatter(buf, buf + 1, NULL, MPI_INT, MPI_SUM, MPI_COMM_SELF));
	SUITE(MPI_File_close(NULL));
#else
	SUITE(MPI_Mrecv(buf, N, MPI_INT, NULL, MPI_STATUS_IGNORE));
	SUITE(MPI_Imrecv(buf, N, MPI_INT, NULL, &r));
	SUITE(MPI_Comm_free(NULL));
	SUITE(MPI_Comm_disconnect(NULL));
	SUITE(MPI_Win_free(NULL));
#endif
}

/* Who asks to be told of errors on a communicator is told of them there, and of no others: to
 * anybody else they would be the end. */
static void wrong_types(const struct suite *s)
{
	int buf[N] = {0};
	MPI_Comm comm;

	MPI_Comm_dup(s->comm, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	SUITE(MPI_Send(buf, N, MPI_DATATYPE_NULL, s->right, TAG, comm));
	SUITE(MPI_Allreduce(MPI_IN_PLACE, buf, N, MPI_DATATYPE_NULL, MPI_SUM, comm));
#if !defined(OPEN_MPI)
	/* there, handles are numbers */
	SUITE(MPI_Send(buf, N, (MPI_Datatype)12345, s->right, TAG, comm));
	SUITE(MPI_Bcast(buf, N, (MPI_Datatype)MPI_COMM_WORLD, 0, comm));
	SUITE(MPI_Recv(buf, N, (MPI_Datatype)-1, s->left, TAG, comm, MPI_STATUS_IGNORE));
#endif
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_free(&comm);
}

/* More than there is room for (MPI-3.1 3.2.4): the receiver hears of it, whatever it waits by. */
static void truncated(const struct suite *s)
{
	int out[N], in[2] = {0}, again[N] = {0}, index = -1, flag = 0, n = 0, indices[2];
	MPI_Request r[2];
	MPI_Status st[2];

	suite_fill(out, N, s->rank, 1);
	for (int i = 0; i < 8; i++)
		SUITE(MPI_Send(out, N, MPI_INT, s->right, TAG + i, s->comm));
	SUITE(MPI_Barrier(s->comm));
	suite_mark(st, 2);
	SUITE(MPI_Recv(in, 1, MPI_INT, s->left, TAG, s->comm, &st[0]));
	suite_say("source %d tag %d", st[0].MPI_SOURCE, st[0].MPI_TAG);
	SUITE(MPI_Recv(in, 1, MPI_INT, s->left, TAG + 1, s->comm, MPI_STATUS_IGNORE));
	SUITE(MPI_Irecv(in, 1, MPI_INT, s->left, TAG + 2, s->comm, &r[0]));
	suite_mark(st, 2);
	SUITE(MPI_Wait(&r[0], &st[0]));
	suite_requests("truncated", r, 1);
	/* Open MPI 4.1.4 never comes back from this Waitall under MPI_THREAD_MULTIPLE */
	for (int ignore = 0; ignore < 2 && !s->threads; ignore++) {
		SUITE(MPI_Irecv(in, 1, MPI_INT, s->left, TAG + 3 + ignore, s->comm, &r[0]));
		SUITE(MPI_Irecv(again, N, MPI_INT, s->left, TAG + 5 + ignore, s->comm, &r[1]));
		suite_mark(st, 2);
		SUITE(MPI_Waitall(2, r, ignore ? MPI_STATUSES_IGNORE : st));
		suite_requests("truncated", r, 2);
		for (int i = 0; !ignore && i < 2; i++)
			suite_rc("its status", st[i].MPI_ERROR);
		for (int i = 0; i < 2; i++)
			if (r[i] != MPI_REQUEST_NULL)
				SUITE(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
		suite_ints("the other", again, N);
	}
	SUITE(MPI_Irecv(in, 1, MPI_INT, s->left, TAG + 7, s->comm, &r[0]));
	SUITE(MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE));
	suite_say("index %d", index);
	suite_requests("truncated", r, 1);
	for (int i = 3; i < 7 && s->threads; i++)
		SUITE(MPI_Recv(again, N, MPI_INT, s->left, TAG + i, s->comm, MPI_STATUS_IGNORE));
	SUITE(MPI_Testsome(0, r, &n, indices, MPI_STATUSES_IGNORE));
	SUITE(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE));
}

void suite_errors(const struct suite *s)
{
	int sum = 1;

	wrong_arguments(s);
	wrong_collectives(s);
	no_addresses();
	no_addresses_of_one();
	wrong_types(s);
	truncated(s);
	SUITE(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, s->comm));
	suite_ints("and all goes on", &sum, 1);
}
