/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the heartbeat takes from waves: each thread's newest event. */
#include "consumers/watch/thread-states.h"

#include "tests/tap.h"
#include "tree/data/op.h"

#define SECOND 1000000000ll
#define NOW    (1000 * SECOND)

static struct thread_states thread_states;

static void event(const char *name, int32_t rank, const char *op, bool running, int64_t at_s)
{
	struct evspace_event ev = {
		.name = name,
		.rank = rank,
		.op = op,
		.op_number = op_find(op),
		.flags = running ? EVSPACE_RUNNING : 0,
		.start_ns = at_s * SECOND - (running ? 0 : 1000),
		.end_ns = running ? 0 : at_s * SECOND,
		.read_ns = NOW,
	};

	thread_states_add(&thread_states, &ev, (uint64_t)(NOW / SECOND));
}

static void the_newest_event_counts(void)
{
	thread_states_begin(&thread_states);
	event("/c/n/rank2/t0/p2p", 2, "MPI_Send", false, 997);
	event("/c/n/rank2/t0/collective", 2, "MPI_Barrier", false, 998);
	event("/c/n/rank2/t0/wait", 2, "MPI_Wait", false, 996);
	event("/c/n/rank1/t10", 1, "MPI_Send", false, 990);
	event("/c/n/rank1/t9/p2p", 1, "MPI_Send", false, 999);
	event("/c/n/rank1/t9/state", 1, "MPI_Recv", true, 998);
	thread_states_end(&thread_states, false);
	CU_ASSERT_EQUAL_FATAL(thread_states.n, 3);
	CU_ASSERT_EQUAL(thread_states.fresh, 3);
	CU_ASSERT_STRING_EQUAL(thread_states.items[0].name, "/c/n/rank1/t9");
	CU_ASSERT_TRUE(thread_states.items[0].running);
	CU_ASSERT_EQUAL(thread_states.items[0].still_ns, 2 * SECOND);
	CU_ASSERT_STRING_EQUAL(thread_states.items[1].name, "/c/n/rank1/t10");
	CU_ASSERT_STRING_EQUAL(thread_states.items[2].op, "MPI_Barrier");
	thread_states_fini(&thread_states);
}

static void who_is_missing_stays_as_it_was(void)
{
	thread_states_begin(&thread_states);
	event("/c/n/rank0/t0", 0, "MPI_Send", false, 990);
	event("/c/m/rank1/t0", 1, "MPI_Recv", true, 990);
	thread_states_end(&thread_states, false);
	thread_states_begin(&thread_states);
	event("/c/n/rank0/t0", 0, "MPI_Send", false, 999);
	thread_states_end(&thread_states, true);
	CU_ASSERT_EQUAL_FATAL(thread_states.n, 2);
	CU_ASSERT_EQUAL(thread_states.fresh, 1);
	CU_ASSERT_STRING_EQUAL(thread_states.items[1].name, "/c/m/rank1/t0");
	CU_ASSERT_EQUAL(thread_states.items[1].cause, STALL_NOBODY);
	thread_states_begin(&thread_states);
	event("/c/n/rank0/t0", 0, "MPI_Send", false, 999);
	thread_states_end(&thread_states, false);
	CU_ASSERT_EQUAL(thread_states.n, 1);
	thread_states_fini(&thread_states);
}

/* A rank of a world that others spawned has a rank, too, and that is not one of the first world. */
static void worlds_are_told_apart(void)
{
	thread_states_begin(&thread_states);
	event("/c/n/rank1.w1a2b3c4d.4711/t0/p2p", -1, "MPI_Send", false, 990);
	event("/c/n/rank1.w1a2b3c4d/t0/p2p", -1, "MPI_Send", false, 998);
	event("/c/n/rank1/t0/p2p", 1, "MPI_Send", false, 999);
	event("/c/n/rank0.w1a2b3c4d/t0/p2p", -1, "MPI_Send", false, 997);
	event("/c/n", -1, "MPI_Send", false, 997);
	thread_states_end(&thread_states, false);
	CU_ASSERT_EQUAL_FATAL(thread_states.n, 5);
	CU_ASSERT_EQUAL(thread_states.items[0].rank, -1);
	CU_ASSERT_STRING_EQUAL(thread_states.items[1].name, "/c/n/rank1/t0");
	CU_ASSERT_EQUAL(thread_states.items[1].world, 0);
	CU_ASSERT_STRING_EQUAL(thread_states.items[2].name, "/c/n/rank0.w1a2b3c4d/t0");
	CU_ASSERT_EQUAL(thread_states.items[2].rank, 0);
	CU_ASSERT_EQUAL(thread_states.items[2].world, 0x1a2b3c4d);
	CU_ASSERT_EQUAL(thread_states.items[4].rank, 1);
	thread_states_fini(&thread_states);
}

/* Killed while it computed: that it ended its last operation stays true. */
static void the_dead_are_gone(void)
{
	struct evspace_event ev = {
		.name = "/c/n/rank0/t0", .op = "MPI_Send", .op_number = op_find("MPI_Send")};

	ev.start_ns = 5 * SECOND;
	ev.end_ns = 6 * SECOND;
	ev.read_ns = 9 * SECOND;
	ev.flags = EVSPACE_GONE;
	thread_states_begin(&thread_states);
	thread_states_add(&thread_states, &ev, 1);
	thread_states_end(&thread_states, false);
	CU_ASSERT_TRUE(thread_states.items[0].gone);
	CU_ASSERT_FALSE(thread_states.items[0].running);
	CU_ASSERT_FALSE(thread_states.items[0].died_inside);
	CU_ASSERT_EQUAL(thread_states.items[0].still_ns, 3 * SECOND);
	ev.end_ns = 0;
	ev.flags = EVSPACE_GONE | EVSPACE_RUNNING;
	thread_states_begin(&thread_states);
	thread_states_add(&thread_states, &ev, 2);
	thread_states_end(&thread_states, false);
	CU_ASSERT_TRUE(thread_states.items[0].gone);
	CU_ASSERT_FALSE(thread_states.items[0].running);
	CU_ASSERT_TRUE(thread_states.items[0].died_inside);
	CU_ASSERT_EQUAL(thread_states.items[0].end_ns, 0);
	CU_ASSERT_EQUAL(thread_states.items[0].still_ns, 4 * SECOND);
	thread_states_fini(&thread_states);
}

static void regions_are_beside_what_is_done(void)
{
	struct evspace_event ev = {.name = "/c/n/rank0/t0",
				   .op = "evspace_region",
				   .op_number = op_find("evspace_region"),
				   .seq_or_tag = 77,
				   .start_ns = 998 * SECOND,
				   .read_ns = NOW,
				   .flags = EVSPACE_RUNNING | EVSPACE_REGION};

	thread_states_begin(&thread_states);
	thread_states_add(&thread_states, &ev, 1);
	event("/c/n/rank0/t0/p2p", 0, "MPI_Send", false, 990);
	event("/c/n/rank0/t1/p2p", 0, "MPI_Send", false, 990);
	thread_states_end(&thread_states, false);
	CU_ASSERT_EQUAL_FATAL(thread_states.n, 2);
	CU_ASSERT_STRING_EQUAL(thread_states.items[0].op, "MPI_Send");
	CU_ASSERT_FALSE(thread_states.items[0].running);
	CU_ASSERT_EQUAL(thread_states.items[0].region_op, ev.op_number);
	CU_ASSERT_EQUAL(thread_states.items[0].region, 77);
	CU_ASSERT_EQUAL(thread_states.items[0].region_ns, 998 * SECOND);
	CU_ASSERT_EQUAL(thread_states.items[1].region_op, 0);
	thread_states_fini(&thread_states);
}

/* Where an operation was called from is said apart from it, and is no region. */
static void call_sites_are_of_what_is_under_way(void)
{
	struct evspace_event ev = {.name = "/c/n/rank0/t0",
				   .op = "evspace_site",
				   .op_number = op_find("evspace_site"),
				   .seq_or_tag = 99,
				   .comm = 99,
				   .start_ns = 998 * SECOND,
				   .read_ns = NOW,
				   .flags = EVSPACE_RUNNING | EVSPACE_REGION};

	thread_states_begin(&thread_states);
	thread_states_add(&thread_states, &ev, 1);
	event("/c/n/rank0/t0/state", 0, "MPI_Barrier", true, 998);
	ev.name = "/c/n/rank0/t1";
	thread_states_add(&thread_states, &ev, 1);
	event("/c/n/rank0/t1/p2p", 0, "MPI_Send", false, 999);
	thread_states_end(&thread_states, false);
	CU_ASSERT_EQUAL_FATAL(thread_states.n, 2);
	CU_ASSERT_EQUAL(thread_states.items[0].site, 99);
	CU_ASSERT_EQUAL(thread_states.items[0].region_op, 0);
	CU_ASSERT_EQUAL(thread_states.items[1].site, 0);
	thread_states_fini(&thread_states);
}

int main(void)
{
	static CU_TestInfo waves[] = {
		{"the newest event counts", the_newest_event_counts},
		{"who is missing stays as it was", who_is_missing_stays_as_it_was},
		{"worlds are told apart", worlds_are_told_apart},
		{"the dead are gone", the_dead_are_gone},
		{"regions are beside what is done", regions_are_beside_what_is_done},
		{"call sites are of what is under way", call_sites_are_of_what_is_under_way},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "pulses", .pTests = waves},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
