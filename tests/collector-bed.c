/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations as wrappers make them, and what the collector has of them. */
#include "tests/collector-bed.h"

#include "node-agent/segment/segment-read.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

void collector_bed_start(uint32_t threads)
{
	struct segment_plan plan = segments_plan();
	struct error e;

	segments_folder_empty(segments_dir);
	plan.threads = threads;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
}

__attribute__((noinline)) void collector_bed_operate(unsigned channel, uint64_t bytes,
						     void (*inner)(void))
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = OP_MPI_SEND, .peer = 1, .bytes = bytes};
	enum collect_entry entry = collect_enter(caller, &collect_none, channel);

	if (entry == COLLECT_RECORD)
		collect_begin(&t);
	if (inner)
		inner();
	if (entry == COLLECT_RECORD) {
		collect_stamp(&t);
		collect_end(caller, &t, &collect_none, channel);
	}
}

uint64_t collector_bed_head(uint32_t thread, unsigned channel)
{
	const struct segment *s = collect.segment;

	for (uint32_t i = 0; i < segment_elements(s); i++) {
		const struct segment_element *element = segment_element(s, i);

		if (element->thread == thread && element->channel == channel)
			return element_head(segment_ring(s, element));
	}
	return 0;
}

uint64_t collector_bed_overflowed(void)
{
	return collector_bed_head(SEGMENT_NO_THREAD, 0);
}

struct segment_sum collector_bed_counts(uint32_t thread, unsigned channel)
{
	struct segment_sum sum = {.calls = 0};

	segment_channel_sum(collect.segment, thread, channel, &sum);
	return sum;
}

uint64_t collector_bed_events(uint32_t thread, unsigned channel)
{
	return collector_bed_counts(thread, channel).calls;
}

void collector_bed_operate_twice(void)
{
	collector_bed_operate(CHANNEL_P2P, 1, NULL);
	collector_bed_operate(CHANNEL_COLLECTIVE, 1, NULL);
}

void collector_bed_operate_on(struct collect_classes *classes, uint16_t op)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = op, .peer = 1, .comm = classes->comm};

	if (collect_enter_any(caller, classes, CHANNEL_P2P) != COLLECT_RECORD)
		return;
	collect_begin(&t);
	collect_stamp(&t);
	collect_end(caller, &t, classes, CHANNEL_P2P);
}
