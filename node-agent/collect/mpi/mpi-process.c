/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the segment after MPI_Init, and drops it in forked children; has spawned processes join the
 * run. */
#include "node-agent/collect/mpi/mpi-process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/core/member.h"
#include "node-agent/collect/mpi/mpi-calls.h"
#include "node-agent/collect/core/settings.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/mpi/mpi-steer.h"

/* The same on all ranks of a world, and different for each world. */
static uint32_t world_id(const char *job, int size)
{
	char name[96];

	if (job[0])
		return mpi_comm_name_hash(job);
	/* started without a launcher, or by one that does not name the job */
	snprintf(name, sizeof(name), "process %d", size > 1 ? 0 : (int)getpid());
	return mpi_comm_name_hash(name);
}

static int process_start(void)
{
	struct settings settings;
	struct member member = {.rank = 0};
	const struct segment_control *control;
	MPI_Comm parents = mpi.comm_null;
	int rank, size, level;

	settings_read(&settings);
	if (mpi.Comm_rank(mpi.world, &rank) != MPI_SUCCESS ||
	    mpi.Comm_size(mpi.world, &size) != MPI_SUCCESS)
		return -1;
	member.rank = rank;
	member.size = size;
	member.world = world_id(settings.job, size);
	/* the id of the intercommunicator to its parents, as they gave it */
	if (mpi.Comm_get_parent(&parents) == MPI_SUCCESS && parents != mpi.comm_null)
		member.parent = settings.parent ? settings.parent : ~member.world | 1;
	if (member_start(&member, &settings) < 0)
		return -1;
	collect.alone = true;
	control = (void *)((char *)collect.segment->header + collect.segment->layout.control_at);
	evspace_door_watch(control->quiet);
	mpi.multiple = mpi.Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
	mpi_comm_init(member.world, rank, size);
	if (member.parent)
		mpi_comm_add_as(parents, member.parent);
	user_begin();
	told_begin();
	return 0;
}

void mpi_init_begin(struct tuple *t, uint16_t op)
{
	*t = (struct tuple){.op = op, .peer = TUPLE_NO_PEER};
	t->start = clock_ticks(clock_kind());
}

void mpi_init_end(struct collect_caller caller, struct tuple *t, int rc)
{
	t->end = clock_ticks(clock_kind());
	if (rc != MPI_SUCCESS || !mpi_library_find())
		return;
	/* all ranks do this, whether they are collected or not */
	mpi_steer_begin();
	if (collect.segment->header || process_start() < 0)
		return;
	t->comm = collect.segment->header->world;
	if (collect_enter(caller, &collect_none, CHANNEL_ENV) == COLLECT_RECORD)
		collect_end(caller, t, &collect_none, CHANNEL_ENV);
}

void mpi_finished(void)
{
	member_finished();
	/* stop collecting, as MPI must not be called after MPI_Finalize */
	collect_finish();
}

/* The door loads us during the program's first MPI call. */
static __attribute__((constructor)) void process_loaded(void)
{
	pthread_atfork(NULL, NULL, collect_abandon);
	mpi_steer_take();
	mpi_wrappers_resolve();
}

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
