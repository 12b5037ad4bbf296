/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded behind the collector into a program: a slowdown of known size, while collecting is on.
 * Before each MPI_Allreduce it works for PLANT_PERCENT of the processor time that the thread has
 * used since the one before, so that each iteration takes so much longer, on a machine of any speed
 * and with any neighbours. Whether collecting is on it reads where the collector does, off the
 * control page of the process's segment.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node-agent/segment/segment-layout.h"

static int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
static const struct segment_control *control;
static double share;
static double used_s; /* processor time when the last one was over; 0: there was none */

static __attribute__((constructor)) void resolve(void)
{
	const char *percent = getenv("PLANT_PERCENT");

	*(void **)(void *)&next = dlsym(RTLD_NEXT, "MPI_Allreduce");
	share = percent ? strtod(percent, NULL) / 100 : 0;
}

/* The first mapping of a file of the event space is the segment's header. */
static const struct segment_control *control_find(void)
{
	const char *space = getenv("EVSPACE_DIR");
	const struct segment_control *found = NULL;
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long at, offset;
	char line[512], path[256];

	while (maps && space && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%*x %*s %lx %*s %*s %255s", &at, &offset, path) == 3 &&
		    offset == 0 && strncmp(path, space, strlen(space)) == 0)
			found = (const void *)(at + ((const struct segment_header *)at)
							    ->layout.control_at);
	}
	if (maps)
		fclose(maps);
	return found;
}

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_collected(void)
{
	if (!control)
		control = control_find();
	return control && atomic_load(&control->fresh[CHANNEL_P2P]) == MODE_TRACE;
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	double now = processor_s(), until = now + share * (now - used_s);

	if (used_s > 0 && is_collected())
		while (processor_s() < until)
			;
	used_s = processor_s();
	return next(from, to, n, type, op, comm);
}
