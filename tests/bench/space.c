/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills segments as collectors would. */
#include "tests/bench/space.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-read.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bench.h"

/** Channels that every thread of a segment has room for. */
#define COMMON CHANNEL_RMA

/* Some operation of each channel, so that no consumer wonders. */
static const char *const ops[COMMON] = {
	[CHANNEL_P2P] = "MPI_Send",	   [CHANNEL_COLLECTIVE] = "MPI_Allreduce",
	[CHANNEL_WAIT] = "MPI_Waitall",	   [CHANNEL_COMPLETION] = "MPI_Irecv",
	[CHANNEL_COMM] = "MPI_Comm_split", [CHANNEL_ENV] = "MPI_Init",
};

static void element_fill(struct segment *s, const struct segment_element *element, uint64_t n)
{
	struct tuple tuple = {.peer = 1, .bytes = 8, .op = op_find(ops[element->channel])};
	struct element_writer writer;

	element_writer_init(&writer, (void *)((char *)s->header + element->ring_at),
			    element->capacity);
	for (uint64_t i = 0; i < n; i++) {
		tuple.start = clock_ticks((enum clock_kind)s->header->clock_kind);
		tuple.end = tuple.start + 1000;
		element_write(&writer, &tuple);
	}
}

static int segment_fill(struct segment *s, unsigned elements, unsigned capacity, struct error *e)
{
	for (unsigned i = 0; i < elements; i++) {
		const struct segment_element *element;
		struct segment_thread *thread = NULL;
		uint64_t n = capacity + i * 37 % capacity;

		if (i % COMMON == 0)
			thread = segment_thread_add(s, 1 + i);
		element = segment_element_add(s, &(struct segment_element){
							 .thread = i / COMMON,
							 .channel = (uint16_t)(i % COMMON),
							 .capacity = capacity,
						 });
		if ((i % COMMON == 0 && !thread) || !element) {
			errno = ENOSPC;
			return errorf(e, "%s has no room for %u elements", s->path, elements);
		}
		element_fill(s, element, n);
	}
	return 0;
}

int space_make(struct space *space, const char *base, const char *run, unsigned ranks,
	       const unsigned *elements, unsigned capacity, struct error *e)
{
	char dir[256];
	struct segment_plan plan = {.dir = dir,
				    .run = run,
				    .world_size = (int32_t)ranks,
				    .world = 1,
				    .quota = UINT64_MAX};

	*space = (struct space){.segments = memory_new(ranks, sizeof(*space->segments))};
	snprintf(dir, sizeof(dir), "%s/%s", base, run);
	if (mkdir(dir, 0700) < 0)
		return errorf(e, "cannot make the folder %s: %s", dir, strerror(errno));
	for (unsigned i = 0; i < COMMON; i++)
		plan.capacity[i] = capacity;
	for (unsigned rank = 0; rank < ranks; rank++) {
		struct segment *s = &space->segments[space->n];

		if (elements[rank] == 0)
			continue;
		plan.rank = (int32_t)rank;
		plan.threads = (elements[rank] + COMMON - 1) / COMMON;
		if (segment_create(s, &plan, e) < 0)
			return -1;
		space->n++;
		if (segment_fill(s, elements[rank], capacity, e) < 0)
			return -1;
	}
	return 0;
}

/* @each to all elements of all segments. */
static void space_add(const struct space *space, uint64_t each)
{
	for (unsigned i = 0; i < space->n; i++) {
		struct segment *s = &space->segments[i];

		for (unsigned k = 0; k < segment_elements(s); k++)
			element_fill(s, segment_element(s, k), each);
	}
}

pid_t space_write(const struct space *space, double rate, struct error *e)
{
	double began = bench_seconds();
	uint64_t written = 0;
	pid_t pid = fork();

	if (pid < 0)
		return errorf(e, "cannot fork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		uint64_t due = (uint64_t)((bench_seconds() - began) * rate);

		space_add(space, due - written);
		written = due;
		usleep(1000);
	}
}

void space_fini(struct space *space)
{
	for (unsigned i = 0; i < space->n; i++)
		segment_close(&space->segments[i]);
	free(space->segments);
	*space = (struct space){0};
}
