/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests who the heartbeat says is stuck, and who waits for whom. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "consumers/watch/stall.h"
#include "tests/tap.h"
#include "tree/data/op.h"
#include "tree/data/tuple.h"

#define SECOND	   1000000000ll
#define NOW	   (1000 * SECOND)
#define WORLD	   0x77u
#define PAIR	   0x88u /* of ranks 1 and 2 */
#define NOT_LISTED 0x99u
#define ANY_TAG	   UINT32_MAX

static struct thread_state threads[256];
static size_t n_threads;
static int32_t world_size;
static struct stall *stall;

static size_t members(void *arg, uint32_t comm, int32_t *ranks, size_t room)
{
	size_t n = comm == WORLD ? (size_t)world_size : comm == PAIR ? 2 : 0;

	(void)arg;
	for (size_t i = 0; i < n && i < room; i++)
		ranks[i] = (int32_t)i + (comm == PAIR);
	return n;
}

static void begin(int32_t size)
{
	stall_free(stall);
	stall = stall_new();
	world_size = size;
	n_threads = 0;
}

/* Ranks must be added in order. */
static struct thread_state *add(int32_t rank, const char *op, uint32_t comm, double still_s)
{
	struct thread_state *p = &threads[n_threads++];

	*p = (struct thread_state){
		.rank = rank,
		.op_number = op_find(op),
		.peer = TUPLE_NO_PEER,
		.comm = comm,
		.error_ns = 100,
		.still_ns = (int64_t)(still_s * 1e9),
	};
	CU_ASSERT_NOT_EQUAL(p->op_number, 0);
	snprintf(p->name, sizeof(p->name), "/c/n/rank%d/t%zu", rank, n_threads);
	snprintf(p->op, sizeof(p->op), "%s", op);
	return p;
}

static struct thread_state *in_collective(int32_t rank, const char *op, uint32_t comm,
					  uint32_t number, double still_s)
{
	struct thread_state *p = add(rank, op, comm, still_s);

	p->running = true;
	p->seq = number;
	p->start_ns = NOW - p->still_ns;
	return p;
}

static struct thread_state *after(int32_t rank, const char *op, uint32_t comm, uint32_t number,
				  double still_s)
{
	struct thread_state *p = add(rank, op, comm, still_s);

	p->seq = number;
	p->end_ns = NOW - p->still_ns;
	p->start_ns = p->end_ns - 1000;
	return p;
}

static struct thread_state *in_message(int32_t rank, const char *op, int32_t peer, uint32_t tag,
				       double still_s)
{
	struct thread_state *p = in_collective(rank, op, WORLD, tag, still_s);

	p->peer = peer;
	return p;
}

static size_t find(void)
{
	return stall_find(stall, threads, n_threads, SECOND, members, NULL);
}

/* Does thread @at wait, for the reason @why, for these ranks (-1 ends them)? */
static bool waits(size_t at, enum stall_why why, ...)
{
	const struct thread_state *p = &threads[at];
	size_t n = 0;
	va_list list;
	int rank;
	bool same = p->why == why;

	va_start(list, why);
	for (; (rank = va_arg(list, int)) >= 0; n++)
		same = same && n < p->n_awaits && p->awaits[n] == rank;
	va_end(list);
	same = same && n == p->n_awaits;
	if (!same)
		tap_note("%s waits (%d) for %zu, the first is %d", p->name, (int)p->why,
			 p->n_awaits, p->n_awaits ? p->awaits[0] : -1);
	return same;
}

/* ---- collectives ---- */

static void a_late_rank_is_named(void)
{
	begin(4);
	for (int rank = 0; rank < 3; rank++)
		in_collective(rank, "MPI_Barrier", WORLD, 5, 3);
	after(3, "MPI_Send", WORLD, 7, 3.1);
	CU_ASSERT_EQUAL(find(), 4);
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_TRUE(threads[i].stuck);
		CU_ASSERT_TRUE(waits(i, STALL_MEMBERS, 3, -1));
		CU_ASSERT_EQUAL(threads[i].cause, 3);
		CU_ASSERT_EQUAL(threads[i].order, STALL_SILENT_BEFORE);
	}
	CU_ASSERT_TRUE(threads[3].stuck && threads[3].culprit);
	CU_ASSERT_EQUAL(threads[3].holds_up, 3);
}

/* Fences and what files' members do together have numbers as collectives have. */
static void windows_and_files_are_waited_for(void)
{
	begin(3);
	in_collective(0, "MPI_Win_fence", WORLD, 5, 3);
	in_collective(1, "MPI_Win_fence", WORLD, 5, 3);
	after(2, "MPI_Win_fence", WORLD, 4, 3.1);
	CU_ASSERT_EQUAL(find(), 3);
	CU_ASSERT_TRUE(waits(0, STALL_SOME, 2, -1));
	CU_ASSERT_TRUE(waits(1, STALL_SOME, 2, -1));
	CU_ASSERT_TRUE(threads[2].culprit);
	begin(2);
	in_collective(0, "MPI_File_write_all", WORLD, 2, 3);
	in_message(1, "MPI_Recv", 0, 7, 3);
	find();
	CU_ASSERT_TRUE(waits(0, STALL_SOME, 1, -1));
	CU_ASSERT_EQUAL(threads[0].cause, STALL_NOBODY);
	CU_ASSERT_TRUE(threads[0].circle);
}

/* The ranks of each world are its own. */
static void spawned_worlds_wait_within_themselves(void)
{
	begin(2);
	after(0, "MPI_Barrier", WORLD, 5, 0.1);
	after(1, "MPI_Barrier", WORLD, 5, 0.1);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3)->world = 7;
	after(1, "MPI_Barrier", WORLD, 4, 3)->world = 7;
	in_message(0, "MPI_Recv", 1, 7, 3)->world = 8;
	after(1, "MPI_Barrier", WORLD, 4, 3)->world = 8;
	CU_ASSERT_EQUAL(find(), 4);
	CU_ASSERT_TRUE(waits(2, STALL_MEMBERS, 1, -1));
	CU_ASSERT_EQUAL(threads[2].cause, 3);
	CU_ASSERT_TRUE(waits(4, STALL_PEER, 1, -1));
	CU_ASSERT_EQUAL(threads[4].cause, 5);
	CU_ASSERT_FALSE(threads[0].culprit || threads[1].culprit);
}

/* Where a class was off, numbers of collectives say nothing. */
static void unnumbered_collectives_are_doubted(void)
{
	begin(3);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3)->unnumbered = true;
	in_collective(1, "MPI_Barrier", WORLD, 9, 3);
	after(2, "MPI_Barrier", WORLD, 9, 3);
	find();
	CU_ASSERT_TRUE(waits(0, STALL_SOME, 2, -1));
	CU_ASSERT_TRUE(waits(1, STALL_UNKNOWN, -1));
}

static void who_has_waited_shortly_is_not_stuck(void)
{
	begin(3);
	in_collective(0, "MPI_Allreduce", WORLD, 5, 0.9);
	in_collective(1, "MPI_Allreduce", WORLD, 5, 1.1);
	after(2, "MPI_Allreduce", WORLD, 4, 2);
	CU_ASSERT_EQUAL(find(), 2);
	CU_ASSERT_FALSE(threads[0].stuck);
	CU_ASSERT_EQUAL(threads[0].why, STALL_NOT);
	CU_ASSERT_EQUAL(threads[2].holds_up, 1);
}

/* The late one does something all the time, only not what is waited for. */
static void who_goes_on_is_awaited_but_not_stuck(void)
{
	begin(2);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	after(1, "MPI_Send", WORLD, 0, 0.001);
	CU_ASSERT_EQUAL(find(), 1);
	CU_ASSERT_TRUE(threads[1].culprit);
	CU_ASSERT_FALSE(threads[1].stuck);
	CU_ASSERT_EQUAL(threads[0].order, STALL_SILENT_AFTER);
}

static void only_members_are_awaited(void)
{
	begin(4);
	after(0, "MPI_Send", WORLD, 1, 9);
	in_collective(1, "MPI_Barrier", PAIR, 0, 3);
	after(2, "MPI_Send", WORLD, 1, 4);
	after(3, "MPI_Send", WORLD, 1, 9);
	CU_ASSERT_EQUAL(find(), 2);
	CU_ASSERT_TRUE(waits(1, STALL_MEMBERS, 2, -1));
	CU_ASSERT_EQUAL(threads[1].cause, 2);
}

static void unknown_members_cannot_be_told(void)
{
	begin(2);
	in_collective(0, "MPI_Barrier", NOT_LISTED, 0, 3);
	after(1, "MPI_Send", WORLD, 1, 4);
	CU_ASSERT_EQUAL(find(), 1);
	CU_ASSERT_TRUE(waits(0, STALL_UNKNOWN, -1));
	CU_ASSERT_EQUAL(threads[0].cause, STALL_NOBODY);
}

static void numbers_tell_who_has_passed(void)
{
	begin(5);
	in_collective(0, "MPI_Reduce", WORLD, 0xffffffff, 3); /* numbers wrap */
	in_collective(1, "MPI_Barrier", WORLD, 0, 2.5);
	after(2, "MPI_Reduce", WORLD, 0xffffffff, 2.5);
	after(3, "MPI_Bcast", WORLD, 0xfffffffe, 4);
	after(4, "MPI_Send", WORLD, 1, 5);
	find();
	CU_ASSERT_TRUE(waits(0, STALL_SOME, 3, 4, -1));
	/* a barrier is for all of them */
	CU_ASSERT_TRUE(waits(1, STALL_MEMBERS, 0, 2, 3, 4, -1));
}

static void all_inside_cannot_be_told(void)
{
	begin(2);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	CU_ASSERT_EQUAL(find(), 2);
	CU_ASSERT_TRUE(waits(0, STALL_UNKNOWN, -1));
	CU_ASSERT_FALSE(threads[0].deadlock);
}

static void different_collectives_do_not_match(void)
{
	begin(3);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	in_collective(2, "MPI_Allreduce", WORLD, 5, 3);
	CU_ASSERT_EQUAL(find(), 3);
	CU_ASSERT_TRUE(waits(0, STALL_MEMBERS, 2, -1));
	CU_ASSERT_TRUE(waits(2, STALL_MEMBERS, 0, 1, -1));
	for (size_t i = 0; i < 3; i++)
		CU_ASSERT_TRUE(threads[i].deadlock);
}

static void two_communicators_can_deadlock(void)
{
	begin(3);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	in_collective(2, "MPI_Barrier", PAIR, 0, 3);
	CU_ASSERT_EQUAL(find(), 3);
	CU_ASSERT_TRUE(threads[1].deadlock && threads[1].circle);
	CU_ASSERT_TRUE(threads[2].deadlock && threads[2].circle);
	/* not in the circle, but it will never go on either */
	CU_ASSERT_TRUE(threads[0].deadlock && !threads[0].circle);
	CU_ASSERT_EQUAL(threads[0].cause, 2);
	CU_ASSERT_TRUE(threads[2].odd && !threads[0].odd && !threads[1].odd);
}

/* Half are here and half are there: which of them are wrong cannot be told. */
static void of_two_halves_neither_is_odd(void)
{
	begin(4);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	in_message(2, "MPI_Recv", 0, 9, 3);
	in_message(3, "MPI_Recv", 1, 9, 3);
	find();
	for (size_t i = 0; i < 4; i++)
		CU_ASSERT_FALSE(threads[i].odd);
}

static void who_waits_for_something_else_is_odd(void)
{
	begin(4);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	in_message(2, "MPI_Recv", 0, 9, 3);
	in_collective(3, "MPI_Barrier", WORLD, 5, 3);
	find();
	CU_ASSERT_TRUE(threads[2].odd && !threads[0].odd && !threads[1].odd && !threads[3].odd);
	/* for whom is not known */
	begin(3);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	in_message(1, "MPI_Wait", TUPLE_NO_PEER, 1, 3);
	in_collective(2, "MPI_Barrier", WORLD, 5, 3);
	find();
	CU_ASSERT_TRUE(threads[1].odd && !threads[0].odd && !threads[2].odd);
	/* it goes on */
	threads[1].still_ns = 1000;
	find();
	CU_ASSERT_FALSE(threads[1].odd);
}

/* Whom did those that were inside wait for when all were killed? */
static void the_dead_waited_for_one(void)
{
	begin(4);
	for (int rank = 0; rank < 4; rank++) {
		struct thread_state *p = rank == 2
						 ? after(2, "MPI_Barrier", WORLD, 4, 3)
						 : in_collective(rank, "MPI_Barrier", WORLD, 5, 3);

		p->running = false;
		p->gone = true;
		p->died_inside = rank != 2;
	}
	CU_ASSERT_EQUAL(stall_autopsy(stall, threads, n_threads, members, NULL), 1);
	CU_ASSERT_TRUE(threads[2].culprit && threads[2].stuck);
	CU_ASSERT_EQUAL(threads[2].holds_up, 3);
	CU_ASSERT_FALSE(threads[0].stuck || threads[0].running);
	/* who has ended as it should waits for nobody */
	begin(2);
	after(0, "MPI_Finalize", WORLD, 0, 3);
	after(1, "MPI_Finalize", WORLD, 0, 3);
	CU_ASSERT_EQUAL(stall_autopsy(stall, threads, n_threads, members, NULL), 0);
}

static void finalize_waits_for_all(void)
{
	begin(3);
	in_collective(0, "MPI_Finalize", 0, 0, 3);
	after(1, "MPI_Finalize", 0, 0, 3);
	after(2, "MPI_Barrier", WORLD, 9, 4);
	find();
	CU_ASSERT_TRUE(waits(0, STALL_SOME, 2, -1));
	CU_ASSERT_EQUAL(threads[0].cause, 2);
}

static void one_thread_of_a_rank_is_enough(void)
{
	begin(2);
	in_collective(0, "MPI_Barrier", WORLD, 5, 3);
	after(1, "MPI_Send", WORLD, 1, 9);
	in_collective(1, "MPI_Barrier", WORLD, 5, 3);
	CU_ASSERT_EQUAL(find(), 2);
	CU_ASSERT_TRUE(waits(0, STALL_UNKNOWN, -1));
	CU_ASSERT_FALSE(threads[1].culprit);
}

/* ---- messages ---- */

static void chains_are_followed(void)
{
	begin(4);
	in_message(0, "MPI_Recv", 1, 7, 3);
	in_message(1, "MPI_Recv", 2, 7, 4);
	in_message(2, "MPI_Ssend", 3, 7, 5);
	after(3, "MPI_Bcast", WORLD, 3, 6);
	CU_ASSERT_EQUAL(find(), 4);
	CU_ASSERT_TRUE(waits(0, STALL_PEER, 1, -1));
	CU_ASSERT_EQUAL(threads[0].next, 1);
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(threads[i].cause, 3);
		CU_ASSERT_FALSE(threads[i].deadlock);
	}
	CU_ASSERT_EQUAL(threads[3].holds_up, 3);
}

static void a_circle_is_a_deadlock(void)
{
	begin(4);
	in_message(0, "MPI_Recv", 1, 7, 3);
	in_message(1, "MPI_Recv", 2, 7, 3);
	in_message(2, "MPI_Recv", 0, 7, 3);
	in_message(3, "MPI_Recv", 0, 7, 3);
	CU_ASSERT_EQUAL(find(), 4);
	for (size_t i = 0; i < 4; i++) {
		CU_ASSERT_TRUE(threads[i].deadlock);
		CU_ASSERT_EQUAL(threads[i].circle, i < 3);
	}
}

/* One of them speaks for its rank; both wait in the circle. */
static void alike_threads_are_in_one_circle(void)
{
	begin(2);
	in_message(0, "MPI_Recv", 1, 7, 4);
	in_message(0, "MPI_Recv", 1, 8, 3);
	in_message(1, "MPI_Recv", 0, 7, 4);
	in_message(1, "MPI_Recv", 0, 8, 3);
	CU_ASSERT_EQUAL(find(), 4);
	for (size_t i = 0; i < 4; i++)
		CU_ASSERT_TRUE(threads[i].circle);
}

static void what_meets_no_receive_is_a_deadlock(void)
{
	begin(2);
	in_message(0, "MPI_Send", 1, 7, 3);
	in_message(1, "MPI_Send", 0, 7, 3);
	find();
	CU_ASSERT_TRUE(threads[0].deadlock && threads[1].deadlock);
	begin(2);
	in_message(0, "MPI_Ssend", 1, 7, 3);
	in_message(1, "MPI_Recv", 0, 8, 3);
	find();
	CU_ASSERT_TRUE(threads[0].deadlock && threads[1].deadlock);
}

static void a_long_message_is_no_deadlock(void)
{
	begin(2);
	in_message(0, "MPI_Send", 1, 7, 3);
	in_message(1, "MPI_Recv", 0, ANY_TAG, 3);
	CU_ASSERT_EQUAL(find(), 2);
	for (size_t i = 0; i < 2; i++) {
		CU_ASSERT_TRUE(threads[i].meets);
		CU_ASSERT_FALSE(threads[i].deadlock || threads[i].circle || threads[i].culprit);
		CU_ASSERT_EQUAL(threads[i].cause, STALL_NOBODY);
	}
}

static void a_wait_may_be_either_half(void)
{
	begin(2);
	in_message(0, "MPI_Wait", 1, 1, 3);
	in_message(1, "MPI_Send", 0, 7, 3);
	find();
	CU_ASSERT_TRUE(waits(0, STALL_PEER, 1, -1));
	CU_ASSERT_TRUE(threads[0].meets && !threads[0].deadlock);
	begin(2);
	in_message(0, "MPI_Waitall", TUPLE_ANY_PEER, 3, 3);
	after(1, "MPI_Send", WORLD, 7, 3);
	find();
	CU_ASSERT_TRUE(waits(0, STALL_UNKNOWN, -1));
}

static void from_any_source_one_can_help(void)
{
	begin(3);
	in_message(0, "MPI_Recv", TUPLE_ANY_PEER, 7, 3);
	in_message(1, "MPI_Recv", 0, 7, 3);
	after(2, "MPI_Recv", WORLD, 7, 3);
	CU_ASSERT_EQUAL(find(), 2);
	CU_ASSERT_TRUE(waits(0, STALL_ANY, 1, 2, -1));
	CU_ASSERT_FALSE(threads[0].deadlock || threads[1].deadlock);
	CU_ASSERT_FALSE(threads[2].culprit);
}

static void from_any_source_nobody_can_help(void)
{
	begin(3);
	in_message(0, "MPI_Recv", TUPLE_ANY_PEER, 7, 3);
	in_message(1, "MPI_Recv", 0, 7, 3);
	in_message(2, "MPI_Recv", TUPLE_ANY_PEER, 7, 3);
	CU_ASSERT_EQUAL(find(), 3);
	CU_ASSERT_TRUE(threads[0].deadlock && threads[1].deadlock && threads[2].deadlock);
}

/* Another thread of the rank could do what is waited for. */
static void an_idle_thread_breaks_a_deadlock(void)
{
	begin(2);
	in_message(0, "MPI_Recv", 1, 7, 3);
	in_message(1, "MPI_Recv", 0, 7, 3);
	after(1, "MPI_Send", WORLD, 7, 3);
	CU_ASSERT_EQUAL(find(), 2);
	CU_ASSERT_FALSE(threads[0].deadlock || threads[1].deadlock);
	CU_ASSERT_TRUE(threads[0].circle && threads[1].circle);
}

static void a_rank_of_which_nothing_is_seen(void)
{
	begin(3);
	in_message(0, "MPI_Recv", 2, 7, 3);
	after(1, "MPI_Send", WORLD, 7, 3);
	CU_ASSERT_EQUAL(find(), 1);
	CU_ASSERT_TRUE(waits(0, STALL_PEER, 2, -1));
	CU_ASSERT_EQUAL(threads[0].next, STALL_NOBODY);
	CU_ASSERT_FALSE(threads[0].deadlock);
}

static void close_times_cannot_be_told(void)
{
	begin(2);
	in_message(0, "MPI_Recv", 1, 7, 3);
	after(1, "MPI_Send", WORLD, 7, 3.001)->error_ns = 2e6;
	find();
	CU_ASSERT_EQUAL(threads[0].order, STALL_CANNOT_TELL);
	threads[1].error_ns = 1000;
	find();
	CU_ASSERT_EQUAL(threads[0].order, STALL_SILENT_BEFORE);
}

static void nothing_is_no_problem(void)
{
	begin(0);
	CU_ASSERT_EQUAL(find(), 0);
	stall_free(NULL);
	stall_free(stall);
	stall = NULL;
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
		{"of two halves neither is odd", of_two_halves_neither_is_odd},
		{"who waits for something else is odd", who_waits_for_something_else_is_odd},
		{"the dead waited for one", the_dead_waited_for_one},
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
