/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes segments for tests, and reads them whole. */
#include "tests/segments.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/segment/element-writer.h"
#include "node-agent/segment/segment-table.h"
#include "node-agent/segment/segment-read.h"
#include "tests/tap.h"

char segments_base[64], segments_dir[96];

/* A base and a run's folder of the test's own, in memory like the real ones. */
int segments_folder_make(void)
{
	snprintf(segments_base, sizeof(segments_base), "/dev/shm/evspace-segment-test-XXXXXX");
	if (!mkdtemp(segments_base))
		return 1;
	snprintf(segments_dir, sizeof(segments_dir), "%s/run", segments_base);
	return mkdir(segments_dir, 0700);
}

void segments_folder_empty(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *entry;

	while (d && (entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
}

int segments_folder_remove(void)
{
	segments_folder_empty(segments_dir);
	rmdir(segments_dir);
	return rmdir(segments_base);
}

struct segment_plan segments_plan(void)
{
	struct segment_plan plan = {.dir = segments_dir,
				    .run = "run",
				    .job = "job",
				    .rank = 2,
				    .world_size = 4,
				    .world = 99};

	plan.threads = 2;
	for (int i = 0; i < CHANNEL_MAX; i++)
		plan.capacity[i] = SEGMENTS_CAPACITY;
	return plan;
}

const char *segments_name(const struct segment *s)
{
	return strrchr(s->path, '/') + 1;
}

static struct element_writer writer_of(struct segment *s, uint32_t thread, uint16_t channel)
{
	struct segment_element *element = segment_element_add(
		s, &(struct segment_element){
			   .thread = thread, .channel = channel, .capacity = SEGMENTS_CAPACITY});
	struct element_writer w;

	CU_ASSERT_PTR_NOT_NULL_FATAL(element);
	element_writer_init(&w, (void *)((char *)s->header + element->ring_at), SEGMENTS_CAPACITY);
	return w;
}

/* A segment with a thread, two elements of which one has wrapped, and three communicators. */
struct segment segments_full(void)
{
	struct segment_plan plan = segments_plan();
	struct segment s;
	struct error e;
	struct element_writer w;
	struct tuple t = {.op = 5, .peer = 3};
	int32_t *members;

	segments_folder_empty(segments_dir);
	CU_ASSERT_EQUAL_FATAL(segment_create(&s, &plan, &e), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(segment_thread_add(&s, 4711));
	w = writer_of(&s, 0, CHANNEL_P2P);
	for (t.bytes = 0; t.bytes < 3 * SEGMENTS_CAPACITY; t.bytes++)
		element_write(&w, &t);
	w = writer_of(&s, 0, CHANNEL_COLLECTIVE);
	element_write(&w, &t);
	segment_comm_add(&s, 99, 0, 4, SEGMENT_MEMBERS_WORLD);
	segment_comm_add(&s, 100, 99, 3, SEGMENT_MEMBERS_UNKNOWN);
	members = segment_members_take(&s, 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(members);
	members[0] = 3;
	members[1] = 1;
	segment_comm_add(&s, 101, 99, 2, segment_members_keep(&s, members, 2));
	return s;
}

/* Read all that there is, as agents do. */
int segments_read(void *arg)
{
	const struct segment *s = arg;
	struct element_range range;
	struct tuple out[SEGMENTS_CAPACITY], t;
	uint64_t number;

	for (uint32_t i = 0; i < segment_threads(s); i++)
		if (segment_thread(s, i))
			segment_state(segment_thread(s, i), &t);
	for (uint32_t i = 0; i < segment_comms(s); i++)
		for (uint32_t k = 0; segment_comm(s, i) && k < 10; k++)
			segment_member(s, segment_comm(s, i), k);
	for (uint32_t i = 0; i < segment_elements(s); i++) {
		const struct element_ring *ring;
		struct segment_element element;

		if (!segment_element(s, i))
			continue;
		element = *segment_element(s, i);
		ring = segment_ring(s, &element);
		if (!ring)
			continue;
		element_read(ring, element.capacity, 0, UINT64_MAX, out, SEGMENTS_CAPACITY, &range);
		element_latest(ring, element.capacity, element_inverse(element.capacity), &t,
			       &number);
	}
	segment_alive(s);
	return 0;
}
