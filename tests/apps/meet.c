/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two groups of its ranks meet: at a port whose name is published, and by a socket that the first
 * two join. Counts its calls (--json) as tests/apps/calls does.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/apps/app.h"
#include "tests/apps/calls.h"
#include "tests/apps/loopback.h"
#include "tests/apps/sides.h"

#define SERVICE "evspace-meet"

static struct {
	long json;
} want;

static const struct app_option options[] = {
	{"json", APP_FLAG, &want.json, 0, 0, NULL, "print the counts, a line per rank and call"},
	{0},
};

/* Published by the first rank, looked up by all others. */
static void port_find(const struct calls *world, char *port)
{
	if (world->rank == 0) {
		COUNT(MPI_Open_port, 0);
		MPI_Open_port(MPI_INFO_NULL, port);
		COUNT(MPI_Publish_name, 0);
		MPI_Publish_name(SERVICE, MPI_INFO_NULL, port);
	}
	COUNT(MPI_Barrier, 0);
	MPI_Barrier(world->comm);
	if (world->rank > 0) {
		COUNT(MPI_Lookup_name, 0);
		MPI_Lookup_name(SERVICE, MPI_INFO_NULL, port);
	}
	calls_must(port[0] != '\0', "there is no port");
}

static void at_port(const struct calls *world)
{
	const int waits = world->rank < world->size / 2;
	char port[MPI_MAX_PORT_NAME] = "";
	struct calls side;
	MPI_Comm group, inter;

	COUNT(MPI_Comm_split, 0);
	MPI_Comm_split(world->comm, waits, world->rank, &group);
	calls_on(&side, group);
	port_find(world, port);
	if (waits) {
		COUNT(MPI_Comm_accept, 0);
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, group, &inter);
	} else {
		COUNT(MPI_Comm_connect, 0);
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, group, &inter);
	}
	sides_use(&side, &inter, !waits);
	if (world->rank == 0) {
		COUNT(MPI_Unpublish_name, 0);
		MPI_Unpublish_name(SERVICE, MPI_INFO_NULL, port);
		COUNT(MPI_Close_port, 0);
		MPI_Close_port(port);
	}
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&group);
}

/* A socket between the first two, each of which is a group by itself. */
static void by_socket(const struct calls *world)
{
	int port = 0, listening = world->rank == 0 ? loopback_listen(&port) : -1, fd;
	struct calls self;
	MPI_Comm inter;

	COUNT(MPI_Bcast, INTS(1));
	MPI_Bcast(&port, 1, MPI_INT, 0, world->comm);
	if (world->rank > 1)
		return;
	fd = world->rank == 0 ? loopback_accept(listening) : loopback_connect(port);
	calls_must(fd >= 0, "there is no socket");
	calls_on(&self, MPI_COMM_SELF);
	COUNT(MPI_Comm_join, 0);
	MPI_Comm_join(fd, &inter);
	close(fd);
	sides_use(&self, &inter, world->rank == 1);
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);
	struct calls world;

	COUNT(MPI_Init, 0);
	MPI_Init(&argc, &argv);
	calls_on(&world, MPI_COMM_WORLD);
	if (parsed == APP_RUN && world.size < 2)
		parsed = app_wrong("it takes two ranks to meet");
	if (parsed != APP_RUN) {
		if (world.rank == 0)
			app_explain(parsed, "Groups that meet, and counts of MPI calls.", options);
		MPI_Finalize();
		return app_exit_code(parsed);
	}
	at_port(&world);
	by_socket(&world);
	if (!want.json && world.rank == 0)
		printf("meet: %d ranks, all results are right\n", world.size);
	if (want.json)
		counts_print();
	MPI_Finalize();
	return 0;
}
