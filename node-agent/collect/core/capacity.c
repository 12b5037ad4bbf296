/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides memory among the elements of a process, by how busy their channels are. */
#include "node-agent/collect/core/member.h"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "node-agent/segment/segment-file.h"

/* Quarters of CAPACITY_MOST for each channel: point-to-point operations come in bursts, others
 * less. */
static const uint8_t quarters[CHANNEL_PROGRAMS] = {
	[CHANNEL_P2P] = 4, [CHANNEL_COMPLETION] = 4, [CHANNEL_WAIT] = 2, [CHANNEL_COLLECTIVE] = 2,
	[CHANNEL_RMA] = 2, [CHANNEL_USER] = 2,	     [CHANNEL_PACK] = 2,
};

static uint32_t capacity_of(int channel, uint32_t most)
{
	uint32_t n = most / 4 * quarters[channel];

	return n > SEGMENT_CAPACITY ? n : SEGMENT_CAPACITY;
}

/* Bytes of all elements if those of the busiest channels hold @most tuples. */
static uint64_t bytes_with(const struct segment_plan *plan, uint32_t most)
{
	uint64_t sum = 0;

	for (int i = 0; i < CHANNEL_PROGRAMS; i++) {
		uint32_t n = plan->capacity[i] ? plan->capacity[i] : capacity_of(i, most);

		sum += (uint64_t)segment_plan_elements(plan, i) * element_ring_bytes(n);
	}
	return sum;
}

void capacity_plan(struct segment_plan *plan, const struct capacity_host *host)
{
	uint64_t room = host->quota < host->free ? host->quota : host->free;
	uint32_t most = CAPACITY_MOST;

	room /= CAPACITY_PART * (uint64_t)(host->processes ? host->processes : 1);
	while (most > SEGMENT_CAPACITY && bytes_with(plan, most) > room)
		most /= 2;
	for (int i = 0; i < CHANNEL_PROGRAMS; i++)
		if (!plan->capacity[i])
			plan->capacity[i] = capacity_of(i, most);
}

/* Launchers set variables that say how many processes of the program are on the host. */
static uint32_t processes_here(int32_t world_size)
{
	static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = getenv(variables[i]);
		long n = text ? strtol(text, NULL, 10) : 0;

		if (n > 0 && n < INT32_MAX)
			return (uint32_t)n;
	}
	if (world_size > 0)
		return (uint32_t)world_size;
	return cpus > 0 ? 2 * (uint32_t)cpus : 2;
}

void capacity_host(struct capacity_host *host, const struct segment_plan *plan)
{
	struct statvfs fs;

	*host = (struct capacity_host){.processes = processes_here(plan->world_size)};
	if (statvfs(plan->dir, &fs) < 0)
		return;
	host->free = (uint64_t)fs.f_bavail * fs.f_frsize;
	host->quota = plan->quota ? plan->quota : segment_quota(&fs);
}
