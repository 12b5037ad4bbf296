/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the segment as the settings say. */
#include "node-agent/collect/core/member.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/core/properties.h"

/* Like an agent, by the control page: that is what collectors read. */
static void channels_switch(const uint8_t modes[CHANNEL_MAX])
{
	struct segment *s = collect.segment;
	struct segment_control *control = (void *)((char *)s->header + s->layout.control_at);

	for (int i = 0; i < CHANNEL_MAX; i++)
		segment_class_switch(control, s, i, NULL, modes[i]);
	segment_class_quiet(control, s);
}

/* Set the bytes of all elements of each channel, of which some may have capacities of their own. */
static void rings_plan(struct segment_plan *plan, const struct properties *said)
{
	const struct segment_plan whole = {.threads = plan->threads};
	uint32_t threads = segment_plan_elements(&whole, CHANNEL_P2P);

	for (unsigned channel = 0; channel < CHANNEL_PROGRAMS; channel++) {
		uint32_t n = segment_plan_elements(plan, (int)channel), most = 0;
		uint64_t sum = 0;

		for (uint32_t t = 0; t < threads; t++) {
			uint32_t capacity = properties_of(said, t, channel).capacity;

			capacity = capacity ? capacity : plan->capacity[channel];
			sum += element_ring_bytes(capacity);
			most = capacity > most ? capacity : most;
		}
		/* which threads have the elements of a rare or split channel is not known */
		plan->rings[channel] = n == threads && plan->split[channel] == SPLIT_THREAD
					       ? sum
					       : n * (uint64_t)element_ring_bytes(most);
	}
}

/* The first modes of channels, with what is said of this process's elements. */
static void modes_say(uint8_t modes[CHANNEL_MAX], const struct properties *said)
{
	for (unsigned channel = 0; channel < CHANNEL_PROGRAMS; channel++) {
		int mode = properties_of(said, 0, channel).mode;

		if (mode >= 0)
			modes[channel] = (uint8_t)mode;
	}
}

/* Maps do not say it of tasks, and of worlds that the program spawns. */
static bool is_wanted(const struct member *member, const struct settings *settings)
{
	return member->size == 0 || member->parent || settings_have_rank(settings, member->rank);
}

int member_start(const struct member *member, const struct settings *settings)
{
	static struct properties said;
	uint8_t modes[CHANNEL_MAX];
	bool right = properties_read(&said, getenv("EVSPACE_PROPERTIES"), member->rank);
	struct segment_plan plan = {
		.dir = settings->dir,
		.run = settings->run,
		.job = settings->job,
		.rank = member->rank,
		.world_size = member->size,
		.world = member->world,
		.parent = member->parent,
		.threads = settings->threads,
		.quota = settings->quota,
		.elements = settings->reserve,
		.replaces = true,
	};
	struct capacity_host host;
	struct error e;

	if (!is_wanted(member, settings)) {
		member_refuse(member, settings, "map");
		return -1;
	}
	if (settings->only_threads && (!plan.threads || plan.threads > settings->only_threads))
		plan.threads = settings->only_threads;
	collect.bars = settings->only_threads && plan.threads == settings->only_threads;
	collect.properties = said.n ? &said : NULL;
	memcpy(plan.capacity, settings->capacity, sizeof(plan.capacity));
	memcpy(plan.lifetime_ns, settings->lifetime_ns, sizeof(plan.lifetime_ns));
	memcpy(plan.split, settings->split, sizeof(plan.split));
	if (settings_folder(settings, &e) < 0)
		return -1;
	capacity_host(&host, &plan);
	capacity_plan(&plan, &host);
	if (said.n)
		rings_plan(&plan, &said);
	if (collect_start(&plan, &e) < 0)
		return -1;
	memcpy(modes, settings->modes, sizeof(modes));
	modes_say(modes, &said);
	channels_switch(modes);
	atomic_fetch_or(&collect.segment->header->note,
			settings->note | (right ? 0 : SEGMENT_NOTE_SETTINGS));
	return 0;
}

void member_refuse(const struct member *member, const struct settings *settings, const char *reason)
{
	struct error e;
	int dir = settings_folder(settings, &e) < 0
			  ? -1
			  : open(settings->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return;
	segment_refuse(dir, member->rank, reason);
	close(dir);
}

void member_finished(void)
{
	if (collect.segment->header)
		atomic_store_explicit(&collect.segment->header->finished, 1, memory_order_release);
}
