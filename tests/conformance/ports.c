/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that meet: at a port, under the name of a service, by a socket. */
#include <string.h>
#include <unistd.h>

#include "tests/apps/loopback.h"
#include "tests/conformance/suite.h"

static void meet(MPI_Comm side, bool host, char *port)
{
	MPI_Comm inter = MPI_COMM_NULL;

	if (host)
		SUITE(MPI_Comm_accept(port, MPI_INFO_NULL, 0, side, &inter));
	else
		SUITE(MPI_Comm_connect(port, MPI_INFO_NULL, 0, side, &inter));
	if (inter == MPI_COMM_NULL)
		return;
	SUITE(MPI_Barrier(inter));
	SUITE(MPI_Comm_disconnect(&inter));
}

/* A service is published, found and taken back; the name server may be none. */
static void published(const struct suite *s, const char *port)
{
	char found[MPI_MAX_PORT_NAME] = "";

	if (s->rank != 0)
		return;
	if (SUITE(MPI_Publish_name("evspace-suite", MPI_INFO_NULL, port)) != MPI_SUCCESS)
		return;
	SUITE(MPI_Lookup_name("evspace-suite", MPI_INFO_NULL, found));
	suite_say("found: %d", strcmp(found, port) == 0);
	SUITE(MPI_Unpublish_name("evspace-suite", MPI_INFO_NULL, port));
}

/* The first two have a socket and nothing else. */
static void joined(const struct suite *s)
{
	int port = 0, listening = s->rank == 0 ? loopback_listen(&port) : -1, fd, sum = -1;
	MPI_Comm inter = MPI_COMM_NULL;

	SUITE(MPI_Bcast(&port, 1, MPI_INT, 0, s->comm));
	if (s->rank > 1)
		return;
	fd = s->rank == 0 ? loopback_accept(listening) : loopback_connect(port);
	SUITE(MPI_Comm_join(fd, &inter));
	close(fd);
	if (inter == MPI_COMM_NULL)
		return;
	SUITE(MPI_Allreduce(&s->rank, &sum, 1, MPI_INT, MPI_SUM, inter));
	suite_say("the other is %d", sum);
	SUITE(MPI_Comm_disconnect(&inter));
}

/* Rank 0 opens a port, to which all others connect. */
void suite_ports(const struct suite *s)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm side;

	if (s->size < 2)
		return;
	joined(s);
	if (s->rank == 0)
		SUITE(MPI_Open_port(MPI_INFO_NULL, port));
	SUITE(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, s->comm));
	if (!port[0]) {
		suite_say("no port");
		return;
	}
	SUITE(MPI_Comm_split(s->comm, s->rank == 0, s->rank, &side));
	published(s, port);
	meet(side, s->rank == 0, port);
	if (s->rank == 0)
		SUITE(MPI_Close_port(port));
	SUITE(MPI_Comm_free(&side));
}
