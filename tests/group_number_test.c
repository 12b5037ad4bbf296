/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests numbers of groups of PVM: members whose counts differ by barriers of some alone agree. */
#include "tests/random.h"
#include "tests/tap.h"

#include "consumers/analysis/group-number.h"

#define MEMBERS 6u
#define CALLS	400u

/* Each member's own count, and how many calls of all it has had. */
struct member {
	uint32_t count, all;
};

static struct group_call call_of(uint32_t process, uint32_t number, uint32_t tasks)
{
	return (struct group_call){
		.group = 9, .process = process, .number = number, .tasks = tasks, .size = MEMBERS};
}

/* Whichever two members have barriers alone, the others' numbers are theirs. */
static void members_agree(void)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct group_numbers *numbers = group_numbers_new(100);
		struct member members[MEMBERS] = {{0}};
		uint64_t state = seed;

		for (uint32_t k = 0; k < CALLS; k++) {
			uint32_t pair = (uint32_t)random_below(&state, MEMBERS - 1), number;
			bool alone = random_below(&state, 4) == 0;

			for (uint32_t i = 0; i < MEMBERS; i++) {
				struct member *m = &members[i];
				struct group_call call = call_of(i, 0, alone ? 2 : 0);

				if (alone && i != pair && i != pair + 1)
					continue;
				call.number = ++m->count;
				if (alone) {
					CU_ASSERT_EQUAL(group_number(numbers, &call, &number),
							GROUP_PARTED);
					continue;
				}
				CU_ASSERT_EQUAL(group_number(numbers, &call, &number),
						GROUP_NUMBERED);
				CU_ASSERT_EQUAL(number, ++m->all);
			}
		}
		group_numbers_free(numbers);
	}
}

/* A hole says nothing where all calls are of all; else it may have hidden a barrier of some. */
static void holes_are_not_papered_over(void)
{
	struct group_numbers *numbers = group_numbers_new(100);
	struct group_call call = call_of(0, 5, 0);
	uint32_t number = 0;

	CU_ASSERT_EQUAL(group_number(numbers, &call, &number), GROUP_NUMBERED);
	CU_ASSERT_EQUAL(number, 5);
	call = call_of(1, 1, 2);
	CU_ASSERT_EQUAL(group_number(numbers, &call, &number), GROUP_PARTED);
	call = call_of(1, 2, 0);
	CU_ASSERT_EQUAL(group_number(numbers, &call, &number), GROUP_NUMBERED);
	CU_ASSERT_EQUAL(number, 1);
	call = call_of(0, 6, 0);
	CU_ASSERT_EQUAL(group_number(numbers, &call, &number), GROUP_UNKNOWN);
	/* until it joins again */
	call = call_of(0, 1, 0);
	CU_ASSERT_EQUAL(group_number(numbers, &call, &number), GROUP_NUMBERED);
	CU_ASSERT_EQUAL(number, 1);
	group_numbers_free(numbers);
}

/* A barrier for more tasks than are known yet is for all. */
static void groups_grow(void)
{
	struct group_numbers *numbers = group_numbers_new(100);
	struct group_call call = call_of(0, 1, MEMBERS);
	uint32_t number = 0;

	call.size = 1;
	CU_ASSERT_EQUAL(group_number(numbers, &call, &number), GROUP_NUMBERED);
	call = call_of(0, 2, 2);
	call.size = 1;
	CU_ASSERT_EQUAL(group_number(numbers, &call, &number), GROUP_PARTED);
	group_numbers_free(numbers);
}

static void memory_is_bounded(void)
{
	struct group_numbers *numbers = group_numbers_new(10);
	uint32_t number;

	for (uint32_t i = 0; i < 20; i++) {
		const struct group_call call = call_of(i, 1, 0);

		CU_ASSERT_EQUAL(group_number(numbers, &call, &number),
				i < 10 ? GROUP_NUMBERED : GROUP_CROWDED);
	}
	group_numbers_free(numbers);
}

static CU_TestInfo group_cases[] = {
	{"members agree, whoever has barriers alone", members_agree},
	{"holes are not papered over", holes_are_not_papered_over},
	{"groups grow", groups_grow},
	{"memory is bounded", memory_is_bounded},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static CU_SuiteInfo suites[] = {
		{"group number", NULL, NULL, NULL, NULL, group_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
