/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how much elements hold when nobody says it. */
#include "node-agent/collect/core/member.h"

#include <stdlib.h>

#include "tests/tap.h"

static struct segment_plan planned(uint64_t room, uint32_t processes)
{
	struct segment_plan plan = {.capacity = {[CHANNEL_WAIT] = 77}};
	struct capacity_host host = {.quota = room, .free = UINT64_MAX, .processes = processes};

	capacity_plan(&plan, &host);
	return plan;
}

static uint64_t bytes_of(const struct segment_plan *plan)
{
	uint64_t sum = 0;

	for (int i = 0; i < CHANNEL_PROGRAMS; i++)
		sum += (uint64_t)segment_plan_elements(plan, i) *
		       element_ring_bytes(plan->capacity[i]);
	return sum;
}

static void where_there_is_room(void)
{
	struct segment_plan plan = planned(UINT64_C(6) << 30, 4);

	CU_ASSERT_EQUAL(plan.capacity[CHANNEL_P2P], CAPACITY_MOST);
	CU_ASSERT_EQUAL(plan.capacity[CHANNEL_COMPLETION], CAPACITY_MOST);
	CU_ASSERT_EQUAL(plan.capacity[CHANNEL_COLLECTIVE], CAPACITY_MOST / 2);
	/* what is rare is small, and what is said wins */
	CU_ASSERT_EQUAL(plan.capacity[CHANNEL_ENV], SEGMENT_CAPACITY);
	CU_ASSERT_EQUAL(plan.capacity[CHANNEL_WAIT], 77);
	/* 12 ns a tuple: the start of a process stays below 3 ms */
	CU_ASSERT(bytes_of(&plan) / sizeof(struct tuple) * 12 < 3000000);
}

static void all_together_take_a_part(void)
{
	static const uint32_t processes[] = {1, 4, 30, 128, 1000};
	struct segment_plan before = planned(UINT64_C(256) << 20, 1);

	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
		uint64_t room = UINT64_C(256) << 20;
		struct segment_plan plan = planned(room, processes[i]);

		CU_ASSERT(plan.capacity[CHANNEL_P2P] <= before.capacity[CHANNEL_P2P]);
		CU_ASSERT(plan.capacity[CHANNEL_P2P] == SEGMENT_CAPACITY ||
			  bytes_of(&plan) * processes[i] <= room / CAPACITY_PART);
		before = plan;
	}
	CU_ASSERT_EQUAL(before.capacity[CHANNEL_P2P], SEGMENT_CAPACITY);
}

static void many_elements_are_small(void)
{
	struct segment_plan plan = {.split = {[CHANNEL_P2P] = SPLIT_SITE}, .elements = 10000};
	struct capacity_host host = {UINT64_C(1) << 30, UINT64_C(8) << 30, 4};

	capacity_plan(&plan, &host);
	CU_ASSERT_EQUAL(plan.capacity[CHANNEL_P2P], SEGMENT_CAPACITY);
}

static void what_the_host_has(void)
{
	struct segment_plan plan = {.dir = "/", .world_size = 16, .quota = 1000};
	struct capacity_host host;

	unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
	unsetenv("MPI_LOCALNRANKS");
	capacity_host(&host, &plan);
	CU_ASSERT_EQUAL(host.processes, 16);
	CU_ASSERT_EQUAL(host.quota, 1000);
	setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
	plan.quota = 0;
	capacity_host(&host, &plan);
	CU_ASSERT_EQUAL(host.processes, 4);
	CU_ASSERT(host.quota > 0 && host.free > 0);
	plan.dir = "/nowhere";
	capacity_host(&host, &plan);
	CU_ASSERT_EQUAL(host.quota, 0);
	unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
	plan.world_size = 0;
	capacity_host(&host, &plan);
	CU_ASSERT(host.processes > 0);
}

int main(void)
{
	static CU_TestInfo capacity[] = {
		{"where there is room", where_there_is_room},
		{"all together take a part", all_together_take_a_part},
		{"many elements are small", many_elements_are_small},
		{"what the host has", what_the_host_has},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "capacity", .pTests = capacity},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
