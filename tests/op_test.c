/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the table of operations: names, numbers, channels, and what is not in it. */
#include "tree/data/op.h"

#include <string.h>

#include "tests/tap.h"
#include "tree/data/op-table.h"

/* Numbers are in segments and archives: these must never change. */
static void numbers_are_stable(void)
{
	CU_ASSERT_EQUAL(OP_MPI_SEND, 1);
	CU_ASSERT_EQUAL(OP_MPI_RECV, 5);
	CU_ASSERT_EQUAL(OP_MPI_ISEND, 20);
	CU_ASSERT_EQUAL(OP_MPI_IRECV, 24);
	CU_ASSERT_EQUAL(OP_MPI_WAIT, 100);
	CU_ASSERT_EQUAL(OP_MPI_WAITALL, 102);
	CU_ASSERT_EQUAL(OP_MPI_BARRIER, 200);
	CU_ASSERT_EQUAL(OP_MPI_ALLREDUCE, 212);
	CU_ASSERT_EQUAL(OP_MPI_IBARRIER, 250);
	CU_ASSERT_EQUAL(OP_MPI_COMM_DUP, 300);
	CU_ASSERT_EQUAL(OP_MPI_FINALIZE, 402);
}

static void every_row_is_found(void)
{
	int n = 0;

	for (unsigned op = 0; op <= UINT16_MAX; op++) {
		int channel = op_channel((uint16_t)op);

		if (channel < 0)
			continue;
		n++;
		CU_ASSERT_EQUAL(op_find(op_name((uint16_t)op)), op);
		CU_ASSERT_TRUE(channel < CHANNEL_COUNT);
	}
	CU_ASSERT_TRUE(n > 90);
}

static void names(void)
{
	CU_ASSERT_STRING_EQUAL(op_name(OP_MPI_SEND), "MPI_Send");
	CU_ASSERT_STRING_EQUAL(op_name(OP_MPI_INEIGHBOR_ALLTOALLW), "MPI_Ineighbor_alltoallw");
	CU_ASSERT_EQUAL(op_find("mpi_isend"), OP_MPI_ISEND);
	CU_ASSERT_EQUAL(op_find("Isend"), OP_MPI_ISEND);
	CU_ASSERT_EQUAL(op_find("barrier"), OP_MPI_BARRIER);
	CU_ASSERT_EQUAL(op_find("MPI_Comm_rank"), 0);
	CU_ASSERT_EQUAL(op_find(""), 0);
}

static void unknown_numbers(void)
{
	CU_ASSERT_STRING_EQUAL(op_name(9999), "op 9999");
	CU_ASSERT_STRING_EQUAL(op_name(UINT16_MAX), "op 65535");
	CU_ASSERT_STRING_EQUAL(op_name(0), "unknown");
	CU_ASSERT_EQUAL(op_channel(0), -1);
	CU_ASSERT_EQUAL(op_channel(UINT16_MAX), -1);
	CU_ASSERT_EQUAL(op_synchronizes(UINT16_MAX), 0);
}

static void channels(void)
{
	for (int i = 0; i < CHANNEL_COUNT; i++)
		CU_ASSERT_EQUAL(channel_find(channel_name((unsigned)i)), i);
	CU_ASSERT_STRING_EQUAL(channel_name(CHANNEL_STATE), "state");
	CU_ASSERT_STRING_EQUAL(channel_name(CHANNEL_MAX), "?");
	CU_ASSERT_EQUAL(channel_find("p2"), -1);
	CU_ASSERT_EQUAL(op_channel(OP_MPI_SEND), CHANNEL_P2P);
	CU_ASSERT_EQUAL(op_channel(OP_MPI_TESTSOME), CHANNEL_WAIT);
	CU_ASSERT_EQUAL(op_channel(OP_MPI_IALLREDUCE), CHANNEL_COLLECTIVE);
	CU_ASSERT_EQUAL(op_channel(OP_MPI_CART_CREATE), CHANNEL_COMM);
	CU_ASSERT_EQUAL(op_channel(OP_MPI_INIT), CHANNEL_ENV);
}

/* Only where MPI makes everybody wait for everybody: a bcast's root may leave alone. */
static void synchronizing(void)
{
	CU_ASSERT_TRUE(op_synchronizes(OP_MPI_BARRIER));
	CU_ASSERT_TRUE(op_synchronizes(OP_MPI_ALLTOALLW));
	CU_ASSERT_TRUE(op_synchronizes(OP_MPI_COMM_SPLIT));
	CU_ASSERT_FALSE(op_synchronizes(OP_MPI_BCAST));
	CU_ASSERT_FALSE(op_synchronizes(OP_MPI_REDUCE));
	CU_ASSERT_FALSE(op_synchronizes(OP_MPI_IBARRIER));
	CU_ASSERT_FALSE(op_synchronizes(OP_MPI_SEND));
}

static CU_TestInfo op_cases[] = {
	{"numbers are as they always were", numbers_are_stable},
	{"every row is found by its name", every_row_is_found},
	{"names in any case, with and without MPI_", names},
	{"numbers that are no operation", unknown_numbers},
	{"channels", channels},
	{"who waits for everybody", synchronizing},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "op", .pTests = op_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
