/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the program that MPI calls, and that call MPI: attributes, handlers, requests. */
#include <stdarg.h>

#include "tests/conformance/suite.h"

static int copied, deleted;

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	int size = 0;

	(void)key;
	MPI_Comm_size(comm, &size);
	SUITE(MPI_Barrier(MPI_COMM_SELF));
	copied += size;
	*(void **)out = in;
	*flag = *(int *)extra;
	return MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	deleted++;
	return MPI_SUCCESS;
}

static void attributes(const struct suite *s)
{
	int key, keep = 1, value = 42, *got = NULL, found = 0;
	MPI_Comm one, two;

	SUITE(MPI_Comm_create_keyval(on_copy, on_delete, &key, &keep));
	SUITE(MPI_Comm_dup(s->comm, &one));
	SUITE(MPI_Comm_set_attr(one, key, &value));
	SUITE(MPI_Comm_dup(one, &two));
	SUITE(MPI_Comm_get_attr(two, key, (void *)&got, &found));
	suite_say("copied %d, found %d, %d", copied, found, got ? *got : -1);
	SUITE(MPI_Comm_free(&two));
	suite_say("deleted %d", deleted);
	SUITE(MPI_Comm_free(&one));
	suite_say("deleted %d", deleted);
	SUITE(MPI_Comm_free_keyval(&key));
}

static void on_error(MPI_Comm *comm, int *rc, ...)
{
	int class = 0, rank = -1;

	MPI_Error_class(*rc, &class);
	MPI_Comm_rank(*comm, &rank);
	suite_say("handler: class %d on rank %d", class, rank);
}

static void handlers(const struct suite *s)
{
	MPI_Errhandler own;
	MPI_Comm comm;
	int one = 1;

	SUITE(MPI_Comm_dup(s->comm, &comm));
	SUITE(MPI_Comm_create_errhandler(on_error, &own));
	SUITE(MPI_Comm_set_errhandler(comm, own));
	SUITE(MPI_Send(&one, 1, MPI_INT, s->size + 5, 1, comm));
	SUITE(MPI_Bcast(&one, 1, MPI_INT, s->size + 5, comm));
	SUITE(MPI_Send(&one, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
	SUITE(MPI_Errhandler_free(&own));
	SUITE(MPI_Comm_free(&comm));
}

struct own_request {
	MPI_Request request;
	int queried, freed, cancelled;
};

static int on_query(void *extra, MPI_Status *status)
{
	struct own_request *own = extra;

	own->queried++;
	MPI_Status_set_elements(status, MPI_INT, 3);
	MPI_Status_set_cancelled(status, own->cancelled);
	status->MPI_SOURCE = 5;
	status->MPI_TAG = 6;
	return MPI_SUCCESS;
}

static int on_free(void *extra)
{
	((struct own_request *)extra)->freed++;
	return MPI_SUCCESS;
}

static int on_cancel(void *extra, int complete)
{
	((struct own_request *)extra)->cancelled = !complete;
	return MPI_SUCCESS;
}

static void own_requests(void)
{
	struct own_request own = {.queried = 0};
	MPI_Request r;
	MPI_Status status;
	int flag = 5;

	SUITE(MPI_Grequest_start(on_query, on_free, on_cancel, &own, &own.request));
	r = own.request;
	SUITE(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
	suite_say("complete: %d", flag);
	SUITE(MPI_Grequest_complete(own.request));
	suite_mark(&status, 1);
	SUITE(MPI_Wait(&r, &status));
	suite_status("own request", &status, MPI_INT);
	suite_say("queried %d freed %d", own.queried, own.freed);
	SUITE(MPI_Grequest_start(on_query, on_free, on_cancel, &own, &own.request));
	r = own.request;
	SUITE(MPI_Cancel(&r));
	SUITE(MPI_Grequest_complete(own.request));
	SUITE(MPI_Waitall(1, &r, MPI_STATUSES_IGNORE));
	suite_say("queried %d freed %d cancelled %d", own.queried, own.freed, own.cancelled);
}

void suite_callbacks(const struct suite *s)
{
	copied = deleted = 0;
	attributes(s);
	handlers(s);
	own_requests();
}
