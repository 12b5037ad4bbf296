/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whose calls of a collective differ from those of the others, and in what. */
#include <string.h>

#include "consumers/watch/agreement.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"
#include "tree/data/signature.h"

#define WORLD 0x77u
#define OTHER 0x88u

enum { CHAR, BYTE = 3, PACKED, INT = 8, FLOAT = 14, MADE_4 = SIGNATURE_MADE + 4 };
enum { MAX = 1, SUM = 3 };

static struct agreement *agreement;
static const struct disagreement *found;
static struct agreement_call base;

/* What all call, but for what a test changes: MPI_Allreduce #5 of 4 x MPI_INT by 4. */
static void begin(void)
{
	agreement_free(agreement);
	agreement = agreement_new(1000);
	base = (struct agreement_call){
		.comm = WORLD,
		.number = 5,
		.size = 4,
		.op = OP_MPI_ALLREDUCE,
		.inside = true,
		.one_group = true,
		.signature = signature_word(SIGNATURE_NO_ROOT, SUM, INT),
		.bytes = 16,
		.start_ns = 1000,
	};
}

static void call(struct agreement_call call, int32_t rank)
{
	call.rank = rank;
	call.start_ns += rank;
	agreement_add(agreement, &call);
}

static void call_by(const struct agreement_call *what, int32_t first, int32_t last)
{
	for (int32_t rank = first; rank <= last; rank++)
		call(*what, rank);
}

/* Rank 2 calls @wrong, all others what all call. What do they differ in? */
static enum agreement_part differ(const struct agreement_call *wrong)
{
	size_t n;

	call_by(&base, 0, 1);
	call(*wrong, 2);
	call(base, 3);
	n = agreement_find(agreement, false, &found);
	CU_ASSERT_TRUE_FATAL(n <= 1);
	if (n == 0)
		return AGREEMENT_SAME;
	CU_ASSERT_TRUE(found->majority);
	CU_ASSERT_EQUAL_FATAL(found->n_sides, 2);
	CU_ASSERT_EQUAL(found->sides[0].n, 3);
	CU_ASSERT_EQUAL(found->sides[0].ranks[2], 3);
	CU_ASSERT_EQUAL(found->sides[1].n, 1);
	CU_ASSERT_EQUAL(found->sides[1].ranks[0], 2);
	return found->part;
}

/* ---- one call ---- */

static void the_same_is_no_disagreement(void)
{
	begin();
	CU_ASSERT_EQUAL(differ(&base), AGREEMENT_SAME);
	CU_ASSERT_FALSE(agreement_is_broken(agreement, WORLD, 5));
}

static void another_operation(void)
{
	struct agreement_call wrong;

	begin();
	wrong = base;
	wrong.op = OP_MPI_BARRIER;
	wrong.signature = TUPLE_NO_PEER;
	wrong.bytes = 0;
	CU_ASSERT_EQUAL(differ(&wrong), AGREEMENT_OPERATION);
	CU_ASSERT_TRUE(agreement_is_broken(agreement, WORLD, 5));
	CU_ASSERT_EQUAL(found->number, 5);
	CU_ASSERT_EQUAL(found->sides[0].inside, 3);
	CU_ASSERT_EQUAL(found->sides[0].since_ns, 1000);
}

/* What is found when one signs it so. */
static enum agreement_part signs(int32_t signature)
{
	struct agreement_call wrong;

	begin();
	wrong = base;
	wrong.signature = signature;
	return differ(&wrong);
}

static void another_reduction_type_or_size(void)
{
	struct agreement_call wrong;

	CU_ASSERT_EQUAL(signs(signature_word(SIGNATURE_NO_ROOT, MAX, INT)), AGREEMENT_REDUCTION);
	CU_ASSERT_EQUAL(signs(signature_word(SIGNATURE_NO_ROOT, SUM, FLOAT)), AGREEMENT_TYPE);
	begin();
	wrong = base;
	wrong.bytes = 32;
	CU_ASSERT_EQUAL(differ(&wrong), AGREEMENT_SIZE);
}

static void another_root(void)
{
	struct agreement_call wrong;

	begin();
	base.op = OP_MPI_BCAST;
	base.signature = signature_word(0, SIGNATURE_NO_REDUCTION, INT);
	wrong = base;
	wrong.signature = signature_word(3, SIGNATURE_NO_REDUCTION, INT);
	CU_ASSERT_EQUAL(differ(&wrong), AGREEMENT_ROOT);
}

/* What MPI allows to differ, or what is not known well enough. */
static void what_may_differ(void)
{
	struct agreement_call wrong;

	CU_ASSERT_EQUAL(signs(signature_word(SIGNATURE_NO_ROOT, SUM, MADE_4)), AGREEMENT_SAME);
	CU_ASSERT_EQUAL(signs(signature_word(SIGNATURE_NO_ROOT, SUM, PACKED)), AGREEMENT_SAME);
	begin();
	wrong = base;
	wrong.signature = TUPLE_NO_PEER;
	wrong.bytes = 0;
	CU_ASSERT_EQUAL(differ(&wrong), AGREEMENT_SAME);
	/* each gives as much as it has, of the same type, or nothing of any */
	begin();
	base.op = OP_MPI_ALLGATHERV;
	base.signature = signature_word(SIGNATURE_NO_ROOT, SIGNATURE_NO_REDUCTION, INT);
	wrong = base;
	wrong.bytes = 32;
	CU_ASSERT_EQUAL(differ(&wrong), AGREEMENT_SAME);
	begin();
	base.op = OP_MPI_ALLGATHERV;
	base.signature = wrong.signature;
	wrong.signature = signature_word(SIGNATURE_NO_ROOT, SIGNATURE_NO_REDUCTION, FLOAT);
	wrong.bytes = 0;
	CU_ASSERT_EQUAL(differ(&wrong), AGREEMENT_SAME);
}

/* The two sides of an intercommunicator may give data of two types. */
static void types_of_two_groups(void)
{
	struct agreement_call wrong;

	begin();
	base.op = OP_MPI_ALLGATHER;
	base.signature = signature_word(SIGNATURE_NO_ROOT, SIGNATURE_NO_REDUCTION, INT);
	wrong = base;
	wrong.signature = signature_word(SIGNATURE_NO_ROOT, SIGNATURE_NO_REDUCTION, FLOAT);
	CU_ASSERT_EQUAL(differ(&wrong), AGREEMENT_TYPE);
	begin();
	wrong.one_group = base.one_group = false;
	base.op = OP_MPI_ALLGATHER;
	base.signature = signature_word(SIGNATURE_NO_ROOT, SIGNATURE_NO_REDUCTION, INT);
	CU_ASSERT_EQUAL(differ(&wrong), AGREEMENT_SAME);
}

/* ---- who ---- */

static void without_a_majority_nobody_is_odd(void)
{
	struct agreement_call wrong;

	begin();
	wrong = base;
	wrong.op = OP_MPI_BARRIER;
	call(base, 0);
	call(wrong, 2);
	CU_ASSERT_EQUAL_FATAL(agreement_find(agreement, false, &found), 1);
	CU_ASSERT_FALSE(found->majority);
	call(wrong, 3);
	CU_ASSERT_EQUAL(agreement_find(agreement, false, &found), 1);
	CU_ASSERT_FALSE(found->majority);
	CU_ASSERT_EQUAL(found->sides[0].n, 2);
	CU_ASSERT_EQUAL(agreement_find(agreement, true, &found), 1);
	CU_ASSERT_TRUE(found->majority);
	call(wrong, 1);
	CU_ASSERT_EQUAL(agreement_find(agreement, false, &found), 1);
	CU_ASSERT_TRUE(found->majority);
	CU_ASSERT_EQUAL(found->sides[0].call.op, OP_MPI_BARRIER);
	CU_ASSERT_EQUAL(found->sides[1].ranks[0], 0);
}

static void more_sides_than_are_told_apart(void)
{
	size_t n = 0;

	begin();
	base.size = 9;
	base.op = OP_MPI_BCAST;
	for (int32_t rank = 0; rank < 9; rank++) {
		base.signature = signature_word((uint32_t)rank, SIGNATURE_NO_REDUCTION, INT);
		call(base, rank);
		call(base, rank);
	}
	CU_ASSERT_EQUAL_FATAL(agreement_find(agreement, false, &found), 1);
	CU_ASSERT_EQUAL(found->n_sides, AGREEMENT_SIDES);
	for (size_t i = 0; i < found->n_sides; i++)
		n += found->sides[i].n;
	CU_ASSERT_EQUAL(n, 9);
	CU_ASSERT_FALSE(found->majority);
}

static void the_first_of_each_communicator(void)
{
	struct agreement_call wrong;

	begin();
	for (base.number = 9; base.number >= 7; base.number -= 2) {
		call_by(&base, 0, 2);
		wrong = base;
		wrong.op = OP_MPI_BARRIER;
		call(wrong, 3);
	}
	base.number = 8;
	call_by(&base, 0, 2);
	wrong.number = 8;
	call(wrong, 3);
	base.comm = wrong.comm = OTHER;
	call_by(&base, 0, 2);
	call(wrong, 3);
	CU_ASSERT_EQUAL_FATAL(agreement_find(agreement, false, &found), 2);
	CU_ASSERT_EQUAL(found[0].comm, WORLD);
	CU_ASSERT_EQUAL(found[0].number, 7);
	CU_ASSERT_EQUAL(found[1].comm, OTHER);
	CU_ASSERT_EQUAL(found[1].number, 8);
}

/* ---- time ---- */

static void one_that_returns_is_one_call(void)
{
	struct agreement_call wrong;

	begin();
	wrong = base;
	wrong.op = OP_MPI_BARRIER;
	call(wrong, 2);
	call_by(&base, 0, 1);
	call(base, 3);
	base.inside = false;
	call_by(&base, 0, 1);
	CU_ASSERT_EQUAL_FATAL(agreement_find(agreement, false, &found), 1);
	CU_ASSERT_EQUAL(found->sides[0].n, 3);
	CU_ASSERT_EQUAL(found->sides[0].inside, 1);
	CU_ASSERT_EQUAL(found->sides[0].since_ns, 1003);
	CU_ASSERT_EQUAL(found->sides[1].inside, 1);
}

static void call_sites_may_come_later(void)
{
	struct agreement_call wrong;

	begin();
	wrong = base;
	wrong.op = OP_MPI_BARRIER;
	call_by(&base, 0, 2);
	call(wrong, 3);
	wrong.rank = 3;
	wrong.site = 77;
	agreement_locate(agreement, &wrong);
	wrong.number++;
	wrong.site = 78;
	agreement_locate(agreement, &wrong);
	CU_ASSERT_EQUAL_FATAL(agreement_find(agreement, false, &found), 1);
	CU_ASSERT_EQUAL(found->sides[0].site, 0);
	CU_ASSERT_EQUAL(found->sides[1].site, 77);
}

static void a_number_that_is_used_again(void)
{
	struct agreement_call again;

	begin();
	again = base;
	again.op = OP_MPI_BARRIER;
	call_by(&base, 0, 1);
	call_by(&again, 0, 1);
	CU_ASSERT_EQUAL(agreement_find(agreement, false, &found), 0);
	/* ... also by an operation whose others are still to come */
	call_by(&again, 2, 3);
	CU_ASSERT_EQUAL(agreement_find(agreement, false, &found), 0);
}

static void numbers_wrap(void)
{
	struct agreement_call wrong;

	begin();
	for (int round = 0; round < 2; round++) {
		base.number = round ? 0 : UINT32_MAX;
		wrong = base;
		wrong.op = OP_MPI_BARRIER;
		call_by(&base, 0, 2);
		call(wrong, 3);
	}
	CU_ASSERT_EQUAL_FATAL(agreement_find(agreement, false, &found), 1);
	CU_ASSERT_EQUAL(found->number, UINT32_MAX);
}

/* Old calls make room; those that disagree stay, and nothing grows without end. */
static void memory_is_bounded(void)
{
	struct agreement_call wrong;

	begin();
	wrong = base;
	wrong.op = OP_MPI_BARRIER;
	call_by(&base, 0, 2);
	call(wrong, 3);
	base.size = 0;
	for (uint32_t i = 0; i < 20000; i++) {
		base.number++;
		call_by(&base, 0, 3);
	}
	base.comm = OTHER;
	for (int32_t rank = 0; rank < 20000; rank++)
		call(base, rank);
	CU_ASSERT_EQUAL_FATAL(agreement_find(agreement, false, &found), 1);
	CU_ASSERT_EQUAL(found->sides[0].n, 3);
	/* one of which there was no more room is nobody's */
	wrong.comm = OTHER;
	wrong.number = base.number;
	call(wrong, 20000);
	CU_ASSERT_EQUAL(agreement_find(agreement, false, &found), 1);
}

static CU_TestInfo one_cases[] = {
	{"the same is no disagreement", the_same_is_no_disagreement},
	{"another operation", another_operation},
	{"another root", another_root},
	{"another reduction, type or size", another_reduction_type_or_size},
	{"what may differ", what_may_differ},
	{"types of two groups", types_of_two_groups},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo who_cases[] = {
	{"without a majority nobody is odd", without_a_majority_nobody_is_odd},
	{"more sides than are told apart", more_sides_than_are_told_apart},
	{"the first of each communicator", the_first_of_each_communicator},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo time_cases[] = {
	{"one that returns is one call", one_that_returns_is_one_call},
	{"call sites may come later", call_sites_may_come_later},
	{"a number that is used again", a_number_that_is_used_again},
	{"numbers wrap", numbers_wrap},
	{"memory is bounded", memory_is_bounded},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "one call", .pTests = one_cases},
		{.pName = "who", .pTests = who_cases},
		{.pName = "time", .pTests = time_cases},
		CU_SUITE_INFO_NULL,
	};
	int rc = tap_run(suites);

	agreement_free(agreement);
	return rc;
}
