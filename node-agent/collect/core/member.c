/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the segment as the settings say. */
#include "node-agent/collect/core/member.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"

/* Like an agent, by the control page: that is what collectors read. */
static void channels_switch(const uint8_t modes[CHANNEL_MAX])
{
	struct segment *s = collect.segment;
	struct segment_control *control = (void *)((char *)s->header + s->layout.control_at);

	for (int i = 0; i < CHANNEL_MAX; i++)
		segment_class_switch(control, s, i, NULL, modes[i]);
	segment_class_quiet(control, s);
}

int member_start(const struct member *member, const struct settings *settings)
{
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

	memcpy(plan.capacity, settings->capacity, sizeof(plan.capacity));
	memcpy(plan.lifetime_ns, settings->lifetime_ns, sizeof(plan.lifetime_ns));
	memcpy(plan.split, settings->split, sizeof(plan.split));
	if (settings_folder(settings, &e) < 0)
		return -1;
	capacity_host(&host, &plan);
	capacity_plan(&plan, &host);
	if (collect_start(&plan, &e) < 0)
		return -1;
	channels_switch(settings->modes);
	atomic_fetch_or(&collect.segment->header->note, settings->note);
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
