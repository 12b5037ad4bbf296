/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the segment after MPI_Init; lets go of it in forked children. */
#include "node-agent/collect/mpi-process.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/collect/collect.h"
#include "node-agent/collect/mpi-calls.h"
#include "node-agent/collect/mpi-spawn.h"
#include "node-agent/collect/settings.h"
#include "node-agent/collect/user.h"

/* The same on all ranks of a world, another for each world. */
static uint32_t world_id(const char *job, int size)
{
	char name[96];

	if (job[0])
		return mpi_comm_name_hash(job);
	/* started without a launcher: alone, or by one that names nothing */
	snprintf(name, sizeof(name), "process %d", size > 1 ? 0 : (int)getpid());
	return mpi_comm_name_hash(name);
}

/* As an agent would: the control page is what collectors look at. */
static void channels_switch(const uint8_t modes[CHANNEL_MAX])
{
	struct segment *s = &collect.segment;
	struct segment_control *control = (void *)((char *)s->header + s->layout.control_at);

	for (int i = 0; i < CHANNEL_MAX; i++)
		segment_class_switch(control, s, i, NULL, modes[i]);
}

static int process_start(void)
{
	struct settings settings;
	struct segment_plan plan = {.rank = 0};
	struct error e;
	int rank, size, level;

	settings_read(&settings);
	if (mpi.Comm_rank(mpi.world, &rank) != MPI_SUCCESS ||
	    mpi.Comm_size(mpi.world, &size) != MPI_SUCCESS)
		return -1;
	plan.dir = settings.dir;
	plan.run = settings.run;
	plan.job = settings.job;
	plan.rank = rank;
	plan.world_size = size;
	plan.world = world_id(settings.job, size);
	plan.parent = mpi_spawn_parent(settings.parent, plan.world);
	plan.threads = settings.threads;
	plan.quota = settings.quota;
	for (int i = 0; i < CHANNEL_MAX; i++)
		plan.capacity[i] = settings.capacity[i];
	memcpy(plan.split, settings.split, sizeof(plan.split));
	memcpy(plan.lifetime_ns, settings.lifetime_ns, sizeof(plan.lifetime_ns));
	plan.elements = settings.reserve;
	/* a refusal is on record in the folder, if there is one; the program must not hear of it */
	if (settings_folder(&settings, &e) < 0 || collect_start(&plan, &e) < 0)
		return -1;
	channels_switch(settings.modes);
	atomic_fetch_or(&collect.segment.header->note, settings.note);
	mpi.multiple = mpi.Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
	mpi_comm_init(plan.world, rank, size);
	mpi_spawn_joined(plan.parent);
	user_begin();
	return 0;
}

void mpi_init_begin(struct tuple *t, uint16_t op)
{
	*t = (struct tuple){.op = op, .peer = TUPLE_NO_PEER};
	t->start = clock_ticks(clock_kind());
}

void mpi_init_end(struct tuple *t, int rc)
{
	t->end = clock_ticks(clock_kind());
	if (rc != MPI_SUCCESS || collect.segment.header || !mpi_library_find() ||
	    process_start() < 0)
		return;
	t->comm = collect.segment.header->world;
	if (collect_enter(&collect_none, CHANNEL_ENV) == COLLECT_RECORD)
		collect_end(t, &collect_none, CHANNEL_ENV);
}

void mpi_finished(void)
{
	user_end();
	if (collect.segment.header)
		atomic_store_explicit(&collect.segment.header->finished, 1, memory_order_release);
}

/* The door has let us in: the program's first MPI call is on its way. */
static __attribute__((constructor)) void process_loaded(void)
{
	pthread_atfork(NULL, NULL, collect_abandon);
	mpi_wrappers_resolve();
}
