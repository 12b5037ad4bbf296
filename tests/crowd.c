/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program without MPI that has very many elements, of call sites all over its code, and writes a
 * tuple into each of them, until a signal ends it:
 *
 *	crowd RUN-FOLDER ELEMENTS
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node-agent/collect/core/modules.h"
#include "node-agent/segment/element-writer.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

#define CAPACITY 4

/* Where the linker has put this program's code, with debugging information of all of it. */
extern const char __executable_start[], etext[];

static int element_begin(struct segment *s, uint32_t i, uint32_t n)
{
	uintptr_t code = (uintptr_t)__executable_start;
	struct tuple tuple = {.peer = 1, .op = op_find("MPI_Send")};
	const struct segment_element like = {
		.channel = CHANNEL_P2P,
		.capacity = CAPACITY,
		.split = SPLIT_SITE,
		.key = code + (uint64_t)((uintptr_t)etext - code) * i / n,
	};
	const struct segment_element *element = segment_element_add(s, &like);
	struct element_writer writer;

	if (!element)
		return -1;
	element_writer_init(&writer, (void *)((char *)s->header + element->ring_at), CAPACITY);
	tuple.start = clock_ticks((enum clock_kind)s->header->clock_kind);
	tuple.end = tuple.start + 1000;
	element_write(&writer, &tuple);
	return 0;
}

int main(int argc, char **argv)
{
	struct segment_plan plan = {
		.run = "run", .world = 1, .world_size = 1, .quota = UINT64_MAX, .threads = 1};
	struct segment s;
	struct error e;

	if (argc != 3) {
		fprintf(stderr, "usage: crowd RUN-FOLDER ELEMENTS\n");
		return 2;
	}
	plan.dir = argv[1];
	plan.elements = (uint32_t)strtoul(argv[2], NULL, 10);
	plan.split[CHANNEL_P2P] = SPLIT_SITE;
	plan.capacity[CHANNEL_P2P] = CAPACITY;
	mkdir(argv[1], 0700);
	if (segment_create(&s, &plan, &e) < 0) {
		fprintf(stderr, "crowd: %s\n", e.text);
		return 1;
	}
	modules_note_all(&s);
	if (!segment_thread_add(&s, 1))
		return 1;
	for (uint32_t i = 0; i < plan.elements; i++) {
		if (element_begin(&s, i, plan.elements) < 0)
			return 1;
	}
	puts("made");
	fflush(stdout);
	pause();
	return 0;
}
