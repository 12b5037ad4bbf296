/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which of the threads that wait for each other is the one to look at. */
#include "tests/stall-bed.h"
#include "tests/tap.h"
#include "tree/data/tuple.h"

/* Half are here and half are there: which of them are wrong cannot be told. */
static void of_two_halves_neither_is_odd(void)
{
	bed_begin(4);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	bed_in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	bed_in_message(2, "MPI_Recv", 0, 9, 3);
	bed_in_message(3, "MPI_Recv", 1, 9, 3);
	bed_find();
	for (size_t i = 0; i < 4; i++)
		CU_ASSERT_FALSE(bed_threads[i].odd);
}

static void who_waits_for_something_else_is_odd(void)
{
	bed_begin(4);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	bed_in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	bed_in_message(2, "MPI_Recv", 0, 9, 3);
	bed_in_collective(3, "MPI_Barrier", WORLD, 5, 3);
	bed_find();
	CU_ASSERT_TRUE(bed_threads[2].odd && !bed_threads[0].odd && !bed_threads[1].odd &&
		       !bed_threads[3].odd);
	/* for whom is not known */
	bed_begin(3);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	bed_in_message(1, "MPI_Wait", TUPLE_NO_PEER, 1, 3);
	bed_in_collective(2, "MPI_Barrier", WORLD, 5, 3);
	bed_find();
	CU_ASSERT_TRUE(bed_threads[1].odd && !bed_threads[0].odd && !bed_threads[2].odd);
	/* it goes on */
	bed_threads[1].still_ns = 1000;
	bed_find();
	CU_ASSERT_FALSE(bed_threads[1].odd);
}

/* Whom did those that were inside wait for when all were killed? */
static void the_dead_waited_for_one(void)
{
	bed_begin(4);
	for (int rank = 0; rank < 4; rank++) {
		struct thread_state *p =
			rank == 2 ? bed_after(2, "MPI_Barrier", WORLD, 4, 3)
				  : bed_in_collective(rank, "MPI_Barrier", WORLD, 5, 3);

		p->running = false;
		p->gone = true;
		p->died_inside = rank != 2;
	}
	CU_ASSERT_EQUAL(stall_autopsy(bed_stall, bed_threads, bed_n_threads, bed_members, NULL), 1);
	CU_ASSERT_TRUE(bed_threads[2].culprit && bed_threads[2].stuck);
	CU_ASSERT_EQUAL(bed_threads[2].holds_up, 3);
	CU_ASSERT_FALSE(bed_threads[0].stuck || bed_threads[0].running);
	/* who has ended as it should waits for nobody */
	bed_begin(2);
	bed_after(0, "MPI_Finalize", WORLD, 0, 3);
	bed_after(1, "MPI_Finalize", WORLD, 0, 3);
	CU_ASSERT_EQUAL(stall_autopsy(bed_stall, bed_threads, bed_n_threads, bed_members, NULL), 0);
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{"of two halves neither is odd", of_two_halves_neither_is_odd},
		{"who waits for something else is odd", who_waits_for_something_else_is_odd},
		{"the dead waited for one", the_dead_waited_for_one},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "odd", .pTests = tests},
		CU_SUITE_INFO_NULL,
	};
	int code = tap_run(suites);

	stall_free(bed_stall);
	return code;
}
