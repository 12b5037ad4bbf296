/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is kept of the names that a node tells whoever fetches from it. */
#include "node-agent/remote/fetch.h"
#include "tests/tap.h"

#include <malloc.h>

#include "tests/source-bed.h"
#include "tree/data/names-comm.h"
#include "tree/data/tellers.h"
#include "tree/scope/quota.h"

#define MIB ((size_t)1 << 20)

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void name_take(struct fetch_take *take, uint32_t local)
{
	static char text[] = "/run/w1/rank0:7/t0/p2p";
	struct batch nothing;
	double fill = 0;

	batch_init(&nothing);
	CU_ASSERT_EQUAL(names_hear(fetch_take_names(take),
				   &(struct name){name_id(1, local), 0, LEVEL_ELEMENT, 0, text, 0}),
			0);
	CU_ASSERT_EQUAL(fetch_take(take, &nothing, &fill), 0);
	batch_fini(&nothing);
}

/* What a name takes does not depend on its number, and a node has no more than a consumer. */
static void what_a_node_names_is_bounded(void)
{
	static int32_t members[NAMES_MEMBER_MAX];
	struct fetch_host host = {.sources = &source_bed_host};
	struct name_comm comm = {.id = 1, .members = members};
	struct names_talk talk = {.comms = NAMES_COMM_MAX};
	struct fetch_take *take;
	struct quota *quota;
	size_t before;

	source_bed_begin();
	source_bed_look();
	before = allocated();
	take = fetch_take_new(&host, "w1");
	name_take(take, NAME_LOCAL_MAX);
	CU_ASSERT(allocated() < before + MIB || allocated() == 0);
	talk.teller = tellers_number(names_tellers(fetch_take_names(take)), "w1");
	for (comm.size = NAMES_MEMBER_MAX - 100; comm.size < NAMES_MEMBER_MAX; comm.size++) {
		talk.members = talk.moves = NAMES_MEMBERS_MAX;
		CU_ASSERT_EQUAL(names_comm_hear(fetch_take_names(take), &talk, &comm), 0);
	}
	CU_ASSERT(talk.left_out > 0);
	CU_ASSERT(allocated() < before + QUOTA_KIND / 2 + MIB || allocated() == 0);
	/* When it is not reached any more, all is given back, and learnt anew. */
	fetch_take_lost(take);
	quota = quota_join("w1");
	CU_ASSERT(quota_grant(quota, QUOTA_KIND / 2));
	quota_give(quota, QUOTA_NAMES, QUOTA_KIND / 2);
	name_take(take, 0);
	fetch_take_free(take);
	CU_ASSERT(quota_grant(quota, QUOTA_KIND / 2));
	quota_give(quota, QUOTA_NAMES, QUOTA_KIND / 2);
	quota_leave(quota);
	source_bed_end();
}

static CU_TestInfo cases[] = {
	{"what a node names is bounded", what_a_node_names_is_bounded},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "fetch", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
