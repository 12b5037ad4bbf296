/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the segment after MPI_Init; drops it in forked children. */
#include "node-agent/collect/mpi/mpi-process.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/core/member.h"
#include "node-agent/collect/mpi/mpi-calls.h"
#include "node-agent/collect/mpi/mpi-spawn.h"
#include "node-agent/collect/core/settings.h"
#include "node-agent/collect/core/user.h"

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
	int rank, size, level;

	settings_read(&settings);
	if (mpi.Comm_rank(mpi.world, &rank) != MPI_SUCCESS ||
	    mpi.Comm_size(mpi.world, &size) != MPI_SUCCESS)
		return -1;
	member.rank = rank;
	member.size = size;
	member.world = world_id(settings.job, size);
	member.parent = mpi_spawn_parent(settings.parent, member.world);
	if (member_start(&member, &settings) < 0)
		return -1;
	collect.alone = true;
	control = (void *)((char *)collect.segment->header + collect.segment->layout.control_at);
	evspace_door_watch(control->quiet);
	mpi.multiple = mpi.Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
	mpi_comm_init(member.world, rank, size);
	mpi_spawn_joined(member.parent);
	user_begin();
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
	if (rc != MPI_SUCCESS || collect.segment->header || !mpi_library_find() ||
	    process_start() < 0)
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
	mpi_wrappers_resolve();
}
