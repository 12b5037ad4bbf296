/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests signatures of collectives: what goes in comes out, and anything else that was read is
 * harmless. */
#include "tree/data/signature.h"

#include <string.h>

#include "tests/tap.h"
#include "tree/data/op-table.h"

static struct signature opened(uint16_t op, int32_t word)
{
	const struct tuple t = {.op = op, .peer = word};

	return signature_of(&t);
}

/* They are in segments and archives: these must never change. */
static void words_are_stable(void)
{
	struct signature s = opened(OP_MPI_REDUCE, signature_word(7, 3, 8));

	CU_ASSERT_EQUAL(s.root, 7);
	CU_ASSERT_STRING_EQUAL(s.reduction, "MPI_SUM");
	CU_ASSERT_STRING_EQUAL(s.type, "MPI_INT");
	CU_ASSERT_EQUAL(s.type_bytes, 4);
	s = opened(OP_MPI_ALLREDUCE, signature_word(SIGNATURE_NO_ROOT, SIGNATURE_OWN, 15));
	CU_ASSERT_EQUAL(s.root, -1);
	CU_ASSERT_STRING_EQUAL(s.reduction, "own");
	CU_ASSERT_STRING_EQUAL(s.type, "MPI_DOUBLE");
	CU_ASSERT_STRING_EQUAL(opened(OP_MPI_BCAST, signature_word(0, 15, 47)).type,
			       "MPI_2INTEGER");
}

static void one_that_says_nothing_is_no_peer(void)
{
	struct signature s = opened(OP_MPI_BARRIER, TUPLE_NO_PEER);

	CU_ASSERT_EQUAL(
		signature_word(SIGNATURE_NO_ROOT, SIGNATURE_NO_REDUCTION, SIGNATURE_NO_TYPE),
		TUPLE_NO_PEER);
	CU_ASSERT_TRUE(s.root == -1 && !s.reduction && !s.type && s.type_bytes == 0);
}

static void types_that_are_made_have_a_size(void)
{
	const uint64_t most = SIGNATURE_MADE_MOST;

	CU_ASSERT_EQUAL(opened(OP_MPI_BCAST, signature_word(0, 15, signature_made(0))).type_bytes,
			0);
	CU_ASSERT_EQUAL(opened(OP_MPI_BCAST, signature_word(0, 15, signature_made(12))).type_bytes,
			12);
	CU_ASSERT_EQUAL(
		opened(OP_MPI_BCAST, signature_word(0, 15, signature_made(most))).type_bytes, most);
	CU_ASSERT_EQUAL(
		opened(OP_MPI_BCAST, signature_word(0, 15, signature_made(most + 1))).type_bytes,
		0);
	CU_ASSERT_STRING_EQUAL(
		opened(OP_MPI_BCAST, signature_word(0, 15, signature_made(UINT64_MAX))).type,
		"made");
	CU_ASSERT_TRUE(signature_made(UINT64_MAX) < SIGNATURE_NO_TYPE);
}

/* Of PVM: the root's own call says so, which is all that differs between members. */
static void instances_and_tasks(void)
{
	const int32_t root = signature_instances(3, 3, 6), other = signature_instances(3, 1, 6);
	const struct tuple calls[] = {{.op = OP_PVM_GATHER, .peer = root},
				      {.op = OP_PVM_GATHER, .peer = other}};
	struct signature s = opened(OP_PVM_GATHER, root);

	CU_ASSERT_TRUE(s.root == 3 && s.here && s.tasks == 0 && s.type_bytes == 8);
	CU_ASSERT_STRING_EQUAL(s.type, "PVM_DOUBLE");
	s = opened(OP_PVM_GATHER, other);
	CU_ASSERT_TRUE(s.root == 3 && !s.here);
	CU_ASSERT_EQUAL(signature_common(&calls[0]), signature_common(&calls[1]));
	CU_ASSERT_EQUAL(signature_common(&calls[1]), other);
	s = opened(OP_PVM_BARRIER, signature_tasks(5));
	CU_ASSERT_TRUE(s.root == -1 && s.tasks == 5 && !s.type);
	CU_ASSERT_EQUAL(signature_tasks(-1), TUPLE_NO_PEER);
	/* what no program says, or what is too large */
	CU_ASSERT_EQUAL(signature_instances(-1, -1, -1), TUPLE_NO_PEER);
	CU_ASSERT_EQUAL(signature_instances(0x7ffff, 0x7ffff, 99999), TUPLE_NO_PEER);
	s = opened(OP_PVM_GATHER, signature_instances(0x7fffe, 0x7fffe, 200));
	CU_ASSERT_TRUE(s.root == 0x7fffe && s.here && !s.type);
}

static void only_collectives_have_them(void)
{
	const struct tuple send = {.op = OP_MPI_SEND, .peer = 5};
	const struct tuple bcast = {.op = OP_MPI_BCAST, .peer = signature_word(5, 15, 8)};

	CU_ASSERT_EQUAL(signature_of(&send).root, -1);
	CU_ASSERT_PTR_NULL(signature_of(&send).type);
	CU_ASSERT_EQUAL(signature_peer(&send), 5);
	CU_ASSERT_EQUAL(signature_peer(&bcast), TUPLE_NO_PEER);
}

static void any_word_is_harmless(void)
{
	uint32_t word = 1;

	for (int i = 0; i < 100000; i++) {
		struct signature s;

		word = word * 1664525u + 1013904223u;
		s = opened(OP_MPI_REDUCE, (int32_t)word);
		CU_ASSERT_TRUE(s.root >= -1 && s.root < (int32_t)SIGNATURE_NO_ROOT);
		CU_ASSERT_TRUE(!s.reduction || strlen(s.reduction) > 2);
		CU_ASSERT_TRUE(!s.type || strlen(s.type) > 3);
	}
}

static CU_TestInfo signature_cases[] = {
	{"words mean what they always did", words_are_stable},
	{"one that says nothing is no peer", one_that_says_nothing_is_no_peer},
	{"types that the program makes have a size", types_that_are_made_have_a_size},
	{"instances and tasks of PVM", instances_and_tasks},
	{"only collectives have signatures", only_collectives_have_them},
	{"any word is harmless", any_word_is_harmless},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "signature", .pTests = signature_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
