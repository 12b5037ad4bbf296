/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests who the heartbeat says is stuck, and who waits for whom. */
#include "tests/stall-bed.h"
#include "tests/tap.h"
#include "tree/data/tuple.h"

/* ---- collectives ---- */

static void a_late_rank_is_named(void)
{
	bed_begin(4);
	for (int rank = 0; rank < 3; rank++)
		bed_in_collective(rank, "MPI_Barrier", WORLD, 5, 3);
	bed_after(3, "MPI_Send", WORLD, 7, 3.1);
	CU_ASSERT_EQUAL(bed_find(), 4);
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_TRUE(bed_threads[i].stuck);
		CU_ASSERT_TRUE(bed_waits(i, STALL_MEMBERS, 3, -1));
		CU_ASSERT_EQUAL(bed_threads[i].cause, 3);
		CU_ASSERT_EQUAL(bed_threads[i].order, STALL_SILENT_BEFORE);
	}
	CU_ASSERT_TRUE(bed_threads[3].stuck && bed_threads[3].culprit);
	CU_ASSERT_EQUAL(bed_threads[3].holds_up, 3);
}

/* Fences and what files' members do together have numbers as collectives have. */
static void windows_and_files_are_waited_for(void)
{
	bed_begin(3);
	bed_in_collective(0, "MPI_Win_fence", WORLD, 5, 3);
	bed_in_collective(1, "MPI_Win_fence", WORLD, 5, 3);
	bed_after(2, "MPI_Win_fence", WORLD, 4, 3.1);
	CU_ASSERT_EQUAL(bed_find(), 3);
	CU_ASSERT_TRUE(bed_waits(0, STALL_SOME, 2, -1));
	CU_ASSERT_TRUE(bed_waits(1, STALL_SOME, 2, -1));
	CU_ASSERT_TRUE(bed_threads[2].culprit);
	bed_begin(2);
	bed_in_collective(0, "MPI_File_write_all", WORLD, 2, 3);
	bed_in_message(1, "MPI_Recv", 0, 7, 3);
	bed_find();
	CU_ASSERT_TRUE(bed_waits(0, STALL_SOME, 1, -1));
	CU_ASSERT_EQUAL(bed_threads[0].cause, STALL_NOBODY);
	CU_ASSERT_TRUE(bed_threads[0].circle);
}

/* The ranks of each world are its own. */
static void spawned_worlds_wait_within_themselves(void)
{
	bed_begin(2);
	bed_after(0, "MPI_Barrier", WORLD, 5, 0.1);
	bed_after(1, "MPI_Barrier", WORLD, 5, 0.1);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3)->world = 7;
	bed_after(1, "MPI_Barrier", WORLD, 4, 3)->world = 7;
	bed_in_message(0, "MPI_Recv", 1, 7, 3)->world = 8;
	bed_after(1, "MPI_Barrier", WORLD, 4, 3)->world = 8;
	CU_ASSERT_EQUAL(bed_find(), 4);
	CU_ASSERT_TRUE(bed_waits(2, STALL_MEMBERS, 1, -1));
	CU_ASSERT_EQUAL(bed_threads[2].cause, 3);
	CU_ASSERT_TRUE(bed_waits(4, STALL_PEER, 1, -1));
	CU_ASSERT_EQUAL(bed_threads[4].cause, 5);
	CU_ASSERT_FALSE(bed_threads[0].culprit || bed_threads[1].culprit);
}

/* Where a class was off, numbers of collectives say nothing. */
static void unnumbered_collectives_are_doubted(void)
{
	bed_begin(3);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3)->unnumbered = true;
	bed_in_collective(1, "MPI_Barrier", WORLD, 9, 3);
	bed_after(2, "MPI_Barrier", WORLD, 9, 3);
	bed_find();
	CU_ASSERT_TRUE(bed_waits(0, STALL_SOME, 2, -1));
	CU_ASSERT_TRUE(bed_waits(1, STALL_UNKNOWN, -1));
}

static void who_has_waited_shortly_is_not_stuck(void)
{
	bed_begin(3);
	bed_in_collective(0, "MPI_Allreduce", WORLD, 5, 0.9);
	bed_in_collective(1, "MPI_Allreduce", WORLD, 5, 1.1);
	bed_after(2, "MPI_Allreduce", WORLD, 4, 2);
	CU_ASSERT_EQUAL(bed_find(), 2);
	CU_ASSERT_FALSE(bed_threads[0].stuck);
	CU_ASSERT_EQUAL(bed_threads[0].why, STALL_NOT);
	CU_ASSERT_EQUAL(bed_threads[2].holds_up, 1);
}

/* The late one does something all the time, only not what is waited for. */
static void who_goes_on_is_awaited_but_not_stuck(void)
{
	bed_begin(2);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	bed_after(1, "MPI_Send", WORLD, 0, 0.001);
	CU_ASSERT_EQUAL(bed_find(), 1);
	CU_ASSERT_TRUE(bed_threads[1].culprit);
	CU_ASSERT_FALSE(bed_threads[1].stuck);
	CU_ASSERT_EQUAL(bed_threads[0].order, STALL_SILENT_AFTER);
}

static void only_members_are_awaited(void)
{
	bed_begin(4);
	bed_after(0, "MPI_Send", WORLD, 1, 9);
	bed_in_collective(1, "MPI_Barrier", PAIR, 0, 3);
	bed_after(2, "MPI_Send", WORLD, 1, 4);
	bed_after(3, "MPI_Send", WORLD, 1, 9);
	CU_ASSERT_EQUAL(bed_find(), 2);
	CU_ASSERT_TRUE(bed_waits(1, STALL_MEMBERS, 2, -1));
	CU_ASSERT_EQUAL(bed_threads[1].cause, 2);
}

static void unknown_members_cannot_be_told(void)
{
	bed_begin(2);
	bed_in_collective(0, "MPI_Barrier", NOT_LISTED, 0, 3);
	bed_after(1, "MPI_Send", WORLD, 1, 4);
	CU_ASSERT_EQUAL(bed_find(), 1);
	CU_ASSERT_TRUE(bed_waits(0, STALL_UNKNOWN, -1));
	CU_ASSERT_EQUAL(bed_threads[0].cause, STALL_NOBODY);
}

static void numbers_tell_who_has_passed(void)
{
	bed_begin(5);
	bed_in_collective(0, "MPI_Reduce", WORLD, 0xffffffff, 3); /* numbers wrap */
	bed_in_collective(1, "MPI_Barrier", WORLD, 0, 2.5);
	bed_after(2, "MPI_Reduce", WORLD, 0xffffffff, 2.5);
	bed_after(3, "MPI_Bcast", WORLD, 0xfffffffe, 4);
	bed_after(4, "MPI_Send", WORLD, 1, 5);
	bed_find();
	CU_ASSERT_TRUE(bed_waits(0, STALL_SOME, 3, 4, -1));
	/* a barrier is for all of them */
	CU_ASSERT_TRUE(bed_waits(1, STALL_MEMBERS, 0, 2, 3, 4, -1));
}

static void all_inside_cannot_be_told(void)
{
	bed_begin(2);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	bed_in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	CU_ASSERT_EQUAL(bed_find(), 2);
	CU_ASSERT_TRUE(bed_waits(0, STALL_UNKNOWN, -1));
	CU_ASSERT_FALSE(bed_threads[0].deadlock);
}

static void different_collectives_do_not_match(void)
{
	bed_begin(3);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	bed_in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	bed_in_collective(2, "MPI_Allreduce", WORLD, 5, 3);
	CU_ASSERT_EQUAL(bed_find(), 3);
	CU_ASSERT_TRUE(bed_waits(0, STALL_MEMBERS, 2, -1));
	CU_ASSERT_TRUE(bed_waits(2, STALL_MEMBERS, 0, 1, -1));
	for (size_t i = 0; i < 3; i++)
		CU_ASSERT_TRUE(bed_threads[i].deadlock);
}

static void two_communicators_can_deadlock(void)
{
	bed_begin(3);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	bed_in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	bed_in_collective(2, "MPI_Barrier", PAIR, 0, 3);
	CU_ASSERT_EQUAL(bed_find(), 3);
	CU_ASSERT_TRUE(bed_threads[1].deadlock && bed_threads[1].circle);
	CU_ASSERT_TRUE(bed_threads[2].deadlock && bed_threads[2].circle);
	/* not in the circle, but it will never go on either */
	CU_ASSERT_TRUE(bed_threads[0].deadlock && !bed_threads[0].circle);
	CU_ASSERT_EQUAL(bed_threads[0].cause, 2);
	CU_ASSERT_TRUE(bed_threads[2].odd && !bed_threads[0].odd && !bed_threads[1].odd);
}

static void finalize_waits_for_all(void)
{
	bed_begin(3);
	bed_in_collective(0, "MPI_Finalize", 0, 0, 3);
	bed_after(1, "MPI_Finalize", 0, 0, 3);
	bed_after(2, "MPI_Barrier", WORLD, 9, 4);
	bed_find();
	CU_ASSERT_TRUE(bed_waits(0, STALL_SOME, 2, -1));
	CU_ASSERT_EQUAL(bed_threads[0].cause, 2);
}

static void one_thread_of_a_rank_is_enough(void)
{
	bed_begin(2);
	bed_in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	bed_after(1, "MPI_Send", WORLD, 1, 9);
	bed_in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	CU_ASSERT_EQUAL(bed_find(), 2);
	CU_ASSERT_TRUE(bed_waits(0, STALL_UNKNOWN, -1));
	CU_ASSERT_FALSE(bed_threads[1].culprit);
}

/* ---- messages ---- */

static void chains_are_followed(void)
{
	bed_begin(4);
	bed_in_message(0, "MPI_Recv", 1, 7, 3);
	bed_in_message(1, "MPI_Recv", 2, 7, 4);
	bed_in_message(2, "MPI_Ssend", 3, 7, 5);
	bed_after(3, "MPI_Bcast", WORLD, 3, 6);
	CU_ASSERT_EQUAL(bed_find(), 4);
	CU_ASSERT_TRUE(bed_waits(0, STALL_PEER, 1, -1));
	CU_ASSERT_EQUAL(bed_threads[0].next, 1);
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(bed_threads[i].cause, 3);
		CU_ASSERT_FALSE(bed_threads[i].deadlock);
	}
	CU_ASSERT_EQUAL(bed_threads[3].holds_up, 3);
}

static void a_circle_is_a_deadlock(void)
{
	bed_begin(4);
	bed_in_message(0, "MPI_Recv", 1, 7, 3);
	bed_in_message(1, "MPI_Recv", 2, 7, 3);
	bed_in_message(2, "MPI_Recv", 0, 7, 3);
	bed_in_message(3, "MPI_Recv", 0, 7, 3);
	CU_ASSERT_EQUAL(bed_find(), 4);
	for (size_t i = 0; i < 4; i++) {
		CU_ASSERT_TRUE(bed_threads[i].deadlock);
		CU_ASSERT_EQUAL(bed_threads[i].circle, i < 3);
	}
}

/* One of them speaks for its rank; both wait in the circle. */
static void alike_threads_are_in_one_circle(void)
{
	bed_begin(2);
	bed_in_message(0, "MPI_Recv", 1, 7, 4);
	bed_in_message(0, "MPI_Recv", 1, 8, 3);
	bed_in_message(1, "MPI_Recv", 0, 7, 4);
	bed_in_message(1, "MPI_Recv", 0, 8, 3);
	CU_ASSERT_EQUAL(bed_find(), 4);
	for (size_t i = 0; i < 4; i++)
		CU_ASSERT_TRUE(bed_threads[i].circle);
}

static void what_meets_no_receive_is_a_deadlock(void)
{
	bed_begin(2);
	bed_in_message(0, "MPI_Send", 1, 7, 3);
	bed_in_message(1, "MPI_Send", 0, 7, 3);
	bed_find();
	CU_ASSERT_TRUE(bed_threads[0].deadlock && bed_threads[1].deadlock);
	bed_begin(2);
	bed_in_message(0, "MPI_Ssend", 1, 7, 3);
	bed_in_message(1, "MPI_Recv", 0, 8, 3);
	bed_find();
	CU_ASSERT_TRUE(bed_threads[0].deadlock && bed_threads[1].deadlock);
}

static void a_long_message_is_no_deadlock(void)
{
	bed_begin(2);
	bed_in_message(0, "MPI_Send", 1, 7, 3);
	bed_in_message(1, "MPI_Recv", 0, ANY_TAG, 3);
	CU_ASSERT_EQUAL(bed_find(), 2);
	for (size_t i = 0; i < 2; i++) {
		CU_ASSERT_TRUE(bed_threads[i].meets);
		CU_ASSERT_FALSE(bed_threads[i].deadlock || bed_threads[i].circle ||
				bed_threads[i].culprit);
		CU_ASSERT_EQUAL(bed_threads[i].cause, STALL_NOBODY);
	}
}

static void a_wait_may_be_either_half(void)
{
	bed_begin(2);
	bed_in_message(0, "MPI_Wait", 1, 1, 3);
	bed_in_message(1, "MPI_Send", 0, 7, 3);
	bed_find();
	CU_ASSERT_TRUE(bed_waits(0, STALL_PEER, 1, -1));
	CU_ASSERT_TRUE(bed_threads[0].meets && !bed_threads[0].deadlock);
	bed_begin(2);
	bed_in_message(0, "MPI_Waitall", TUPLE_ANY_PEER, 3, 3);
	bed_after(1, "MPI_Send", WORLD, 7, 3);
	bed_find();
	CU_ASSERT_TRUE(bed_waits(0, STALL_UNKNOWN, -1));
}

static void from_any_source_one_can_help(void)
{
	bed_begin(3);
	bed_in_message(0, "MPI_Recv", TUPLE_ANY_PEER, 7, 3);
	bed_in_message(1, "MPI_Recv", 0, 7, 3);
	bed_after(2, "MPI_Recv", WORLD, 7, 3);
	CU_ASSERT_EQUAL(bed_find(), 2);
	CU_ASSERT_TRUE(bed_waits(0, STALL_ANY, 1, 2, -1));
	CU_ASSERT_FALSE(bed_threads[0].deadlock || bed_threads[1].deadlock);
	CU_ASSERT_FALSE(bed_threads[2].culprit);
}

static void from_any_source_nobody_can_help(void)
{
	bed_begin(3);
	bed_in_message(0, "MPI_Recv", TUPLE_ANY_PEER, 7, 3);
	bed_in_message(1, "MPI_Recv", 0, 7, 3);
	bed_in_message(2, "MPI_Recv", TUPLE_ANY_PEER, 7, 3);
	CU_ASSERT_EQUAL(bed_find(), 3);
	CU_ASSERT_TRUE(bed_threads[0].deadlock && bed_threads[1].deadlock &&
		       bed_threads[2].deadlock);
}

/* Another thread of the rank could do what is waited for. */
static void an_idle_thread_breaks_a_deadlock(void)
{
	bed_begin(2);
	bed_in_message(0, "MPI_Recv", 1, 7, 3);
	bed_in_message(1, "MPI_Recv", 0, 7, 3);
	bed_after(1, "MPI_Send", WORLD, 7, 3);
	CU_ASSERT_EQUAL(bed_find(), 2);
	CU_ASSERT_FALSE(bed_threads[0].deadlock || bed_threads[1].deadlock);
	CU_ASSERT_TRUE(bed_threads[0].circle && bed_threads[1].circle);
}

static void a_rank_of_which_nothing_is_seen(void)
{
	bed_begin(3);
	bed_in_message(0, "MPI_Recv", 2, 7, 3);
	bed_after(1, "MPI_Send", WORLD, 7, 3);
	CU_ASSERT_EQUAL(bed_find(), 1);
	CU_ASSERT_TRUE(bed_waits(0, STALL_PEER, 2, -1));
	CU_ASSERT_EQUAL(bed_threads[0].next, STALL_NOBODY);
	CU_ASSERT_FALSE(bed_threads[0].deadlock);
}

static void close_times_cannot_be_told(void)
{
	bed_begin(2);
	bed_in_message(0, "MPI_Recv", 1, 7, 3);
	bed_after(1, "MPI_Send", WORLD, 7, 3.001)->error_ns = 2e6;
	bed_find();
	CU_ASSERT_EQUAL(bed_threads[0].order, STALL_CANNOT_TELL);
	bed_threads[1].error_ns = 1000;
	bed_find();
	CU_ASSERT_EQUAL(bed_threads[0].order, STALL_SILENT_BEFORE);
}

static void nothing_is_no_problem(void)
{
	bed_begin(0);
	CU_ASSERT_EQUAL(bed_find(), 0);
	stall_free(NULL);
	stall_free(bed_stall);
	bed_stall = NULL;
}

int main(void)
{
	static CU_TestInfo collectives[] = {
		{"a late rank is named", a_late_rank_is_named},
		{"who has waited shortly is not stuck", who_has_waited_shortly_is_not_stuck},
		{"windows and files are waited for", windows_and_files_are_waited_for},
		{"spawned worlds wait within themselves", spawned_worlds_wait_within_themselves},
		{"unnumbered collectives are doubted", unnumbered_collectives_are_doubted},
		{"who goes on is awaited but not stuck", who_goes_on_is_awaited_but_not_stuck},
		{"only members are awaited", only_members_are_awaited},
		{"unknown members cannot be told", unknown_members_cannot_be_told},
		{"numbers tell who has passed", numbers_tell_who_has_passed},
		{"all inside: cannot be told", all_inside_cannot_be_told},
		{"different collectives do not match", different_collectives_do_not_match},
		{"two communicators can deadlock", two_communicators_can_deadlock},
		{"MPI_Finalize waits for all", finalize_waits_for_all},
		{"one thread of a rank is enough", one_thread_of_a_rank_is_enough},
		CU_TEST_INFO_NULL,
	};
	static CU_TestInfo messages[] = {
		{"chains are followed to the end", chains_are_followed},
		{"a circle is a deadlock", a_circle_is_a_deadlock},
		{"alike threads are in one circle", alike_threads_are_in_one_circle},
		{"both sending, or tags that differ", what_meets_no_receive_is_a_deadlock},
		{"a long message is no deadlock", a_long_message_is_no_deadlock},
		{"a wait may be either half", a_wait_may_be_either_half},
		{"from any source: one can help", from_any_source_one_can_help},
		{"from any source: nobody can help", from_any_source_nobody_can_help},
		{"an idle thread breaks a deadlock", an_idle_thread_breaks_a_deadlock},
		{"a rank of which nothing is seen", a_rank_of_which_nothing_is_seen},
		{"close times cannot be told", close_times_cannot_be_told},
		{"nothing is no problem", nothing_is_no_problem},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "collectives", .pTests = collectives},
		{.pName = "messages", .pTests = messages},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
