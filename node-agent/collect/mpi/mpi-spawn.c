/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes the id of the intercommunicator to spawned children in the environment, without
 * communication. */
#include "node-agent/collect/mpi/mpi-spawn.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/core/settings.h"

/** Most variables beside ours; with a larger environment, children do not know their parents. */
#define VARIABLES 4096

/* The environment during a call: a list of its own, so that other threads can still read the old
 * one, and nothing is allocated. Two threads cannot share it. */
static struct {
	_Atomic bool used;
	char *list[VARIABLES + 2];
	char variable[sizeof(SETTINGS_PARENT) + 80];
} handed;

/* Ours replaces a variable of the same name, since the program may be spawned itself. */
static bool list_fill(char **from)
{
	const size_t name = sizeof(SETTINGS_PARENT); /* with the "=" */
	size_t n = 0;

	for (; *from; from++) {
		if (strncmp(*from, handed.variable, name) == 0)
			continue;
		if (n == VARIABLES)
			return false;
		handed.list[n++] = *from;
	}
	handed.list[n++] = handed.variable;
	handed.list[n] = NULL;
	return true;
}

static void hand_down(struct mpi_spawn *s)
{
	bool used = false;

	if (!environ || !atomic_compare_exchange_strong(&handed.used, &used, true))
		return;
	snprintf(handed.variable, sizeof(handed.variable), SETTINGS_PARENT "=%08x.%s", s->id,
		 collect.segment->header->run);
	if (!list_fill(environ)) {
		atomic_store(&handed.used, false);
		return;
	}
	s->environ = environ;
	environ = handed.list;
}

void mpi_spawn_begin(struct mpi_spawn *s, struct mpi_comm *at, int root)
{
	s->environ = NULL;
	s->id = mpi_comm_id_next(at);
	if (s->id && root == at->rank)
		hand_down(s);
}

void mpi_spawn_end(struct mpi_spawn *s, const MPI_Comm *made, int rc)
{
	if (s->environ) {
		/* if a variable was set meanwhile, environ has changed, and ours stays in it */
		if (environ == handed.list) {
			environ = s->environ;
			atomic_store(&handed.used, false);
		}
	}
	if (rc == MPI_SUCCESS)
		mpi_comm_add_as(*made, s->id);
}

uint32_t mpi_spawn_parent(uint32_t given, uint32_t world)
{
	MPI_Comm parent = mpi.comm_null;

	if (mpi.Comm_get_parent(&parent) != MPI_SUCCESS || parent == mpi.comm_null)
		return 0;
	return given ? given : ~world | 1;
}

void mpi_spawn_joined(uint32_t id)
{
	MPI_Comm parent = mpi.comm_null;

	if (id && mpi.Comm_get_parent(&parent) == MPI_SUCCESS)
		mpi_comm_add_as(parent, id);
}
